/**
 * Traces and metrics by OpenTelemetry's own API, which is an optional peer: loaded once when serving begins, and only where a
 * program has registered a provider by then. Names are those of the semantic conventions for MCP and generative AI (1.45,
 * in development); arguments and results are in none of them.
 */
import type * as otel from '@opentelemetry/api';
import type { Attributes, SpanContext, Tracer } from '@opentelemetry/api';
import type { ClientRequest, Served } from '../../mcp/serving.ts';
import type { JsonObject } from '../../types.ts';
import { VERSION } from '../../version.ts';
import { NAME_LONGEST, problemOf } from './problem.ts';

export interface Observed {
  request: ClientRequest;
  transport: 'tcp' | 'pipe';
  label: string | undefined;
  session: string | undefined;
  /** Of the protocol. */
  version: string;
}

export interface Telemetry {
  /** @param answer does the work, with the `_meta` that goes on: the trace context in it is the request's own span. */
  request(
    observed: Observed,
    answer: (meta: JsonObject | undefined) => Promise<Served>,
    isAborted: () => boolean,
  ): Promise<Served>;
}

type Api = typeof otel;

/** Seconds, as the conventions advise. */
const BUCKETS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

/** Undefined without the package, and where nobody has registered a provider. */
export async function openTelemetry(): Promise<Telemetry | undefined> {
  let api: Api;
  try {
    api = await import('@opentelemetry/api');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  }
  const provider = api.trace.getTracerProvider();
  const isTraced =
    !(provider instanceof api.ProxyTracerProvider) || provider.getDelegateTracer('midspan') !== undefined;
  const meter = api.metrics.getMeter('midspan', VERSION);
  const isMeasured = meter !== api.createNoopMeter();
  if (!isTraced && !isMeasured) return undefined;
  const duration = meter.createHistogram('mcp.server.operation.duration', {
    unit: 's',
    description: 'How long requests of MCP clients took.',
    advice: { explicitBucketBoundaries: BUCKETS },
  });
  const tracer = api.trace.getTracer('midspan', VERSION);
  return {
    async request(observed, answer, isAborted) {
      const start = performance.now();
      const { attributes, more, name } = factsOf(observed);
      const { span, context, meta } = begin(api, tracer, observed, name, { ...attributes, ...more });
      const served = await api.context.with(context, () => answer(meta));
      const problem = problemOf(served, isAborted());
      if (problem !== undefined) {
        attributes['error.type'] = problem;
        span.setAttribute('error.type', problem);
        span.setStatus({ code: api.SpanStatusCode.ERROR });
      }
      // A name that there is not is whatever a client likes: as many series as it likes.
      if (served.kind === 'error') delete attributes['gen_ai.tool.name'];
      duration.record((performance.now() - start) / 1000, attributes, context);
      span.end();
      return served;
    },
  };
}

function begin(api: Api, tracer: Tracer, { request }: Observed, name: string, attributes: Attributes) {
  const parent = contextOf(api, request.meta);
  const from =
    parent === undefined ? api.context.active() : api.trace.setSpanContext(api.ROOT_CONTEXT, parent);
  const span = tracer.startSpan(name, { kind: api.SpanKind.SERVER, attributes }, from);
  const own = span.spanContext();
  // Without a tracer the span is the parent itself, or none at all.
  const meta = api.isSpanContextValid(own) ? withContext(request.meta, own) : request.meta;
  return { span, context: api.trace.setSpan(from, span), meta };
}

/** What spans and metrics share, and what is for spans alone: each value of it may be there but once. */
function factsOf({ request, transport, label, session, version }: Observed): {
  attributes: Attributes;
  more: Attributes;
  name: string;
} {
  const { method, params } = request;
  const attributes: Attributes = {
    'mcp.method.name': method,
    'mcp.protocol.version': version,
    'network.transport': transport,
    ...(transport === 'tcp' && { 'network.protocol.name': 'http' }),
    ...(label !== undefined && { 'midspan.server': label }),
  };
  const more: Attributes = { 'jsonrpc.request.id': String(request.id).slice(0, NAME_LONGEST) };
  if (session !== undefined) more['mcp.session.id'] = session;
  const { name, uri } = params;
  if (typeof uri === 'string' && method === 'resources/read') more['mcp.resource.uri'] = uri.slice(0, 1024);
  if (typeof name !== 'string') return { attributes, more, name: method };
  const target = name.slice(0, NAME_LONGEST);
  if (method === 'tools/call') {
    attributes['gen_ai.tool.name'] = target;
    attributes['gen_ai.operation.name'] = 'execute_tool';
  } else if (method === 'prompts/get') more['gen_ai.prompt.name'] = target;
  return { attributes, more, name: `${method} ${target}` };
}

/** W3C Trace Context, as clients put it into `_meta`. */
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
const TRACESTATE_LONGEST = 512;

function contextOf(api: Api, meta: JsonObject | undefined): SpanContext | undefined {
  const { traceparent, tracestate } = meta ?? {};
  const found = typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent) : null;
  if (found === null) return undefined;
  const [, traceId = '', spanId = '', flags = ''] = found;
  const parent: SpanContext = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  if (typeof tracestate === 'string' && tracestate.length <= TRACESTATE_LONGEST)
    parent.traceState = api.createTraceState(tracestate);
  return api.isSpanContextValid(parent) ? parent : undefined;
}

function withContext(meta: JsonObject | undefined, own: SpanContext): JsonObject {
  const { tracestate: _theirs, ...rest } = meta ?? {};
  const flags = own.traceFlags.toString(16).padStart(2, '0');
  const tracestate = own.traceState?.serialize();
  return {
    ...rest,
    traceparent: `00-${own.traceId}-${own.spanId}-${flags}`,
    ...(tracestate && { tracestate }),
  };
}
