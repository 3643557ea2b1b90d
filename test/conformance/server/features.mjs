// Everything that the server offers, whatever the era: lists that can change, and what stands behind them.
import { EventEmitter } from 'node:events';
import { asking } from './asking.mjs';
import { jobs } from './jobs.mjs';
import { changing as changingPrompt, complete, prompts } from './prompts.mjs';
import { changing as changingResource, readTemplate, resources, templates } from './resources.mjs';
import { CODES, RpcError } from './rpc.mjs';
import { changing as changingTool, tools } from './tools.mjs';

/**
 * `changes` emits `list` with `tools`, `prompts` or `resources`, and `updated` with the URI of a resource.
 * What comes and goes is there at first.
 */
export function createFeatures() {
  const changes = new EventEmitter().setMaxListeners(0);
  const changing = { tools: changingTool, prompts: changingPrompt, resources: changingResource };
  const lists = {
    tools: [...tools, ...asking, ...jobs, changingTool],
    prompts: [...prompts, changingPrompt],
    resources: [...resources, changingResource],
  };

  const find = (kind, name) => {
    const found = lists[kind].find(({ definition }) => definition.name === name);
    if (found === undefined)
      throw new RpcError(CODES.invalidParams, `There is no ${kind.slice(0, -1)} ${name}`);
    return found;
  };

  return {
    changes,
    templates,
    complete,
    list: (kind) => lists[kind],
    tool: (name) => find('tools', name),
    prompt: (name) => find('prompts', name),
    /** `code` says how the era calls a resource that does not exist. */
    read(uri, code) {
      const found = lists.resources.find(({ definition }) => definition.uri === uri);
      const contents = found?.contents ?? readTemplate(uri);
      if (contents === undefined) throw new RpcError(code, 'Resource not found', { uri });
      return { contents: [contents] };
    },
    toggle(kind) {
      const item = changing[kind];
      const isThere = lists[kind].includes(item);
      lists[kind] = isThere ? lists[kind].filter((other) => other !== item) : [...lists[kind], item];
      changes.emit('list', kind);
    },
  };
}
