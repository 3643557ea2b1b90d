/** Paths that always ask, in lower case and with `/`. Data, and how a path's segments are looked up in it. */
const lines = (text: string): ReadonlySet<string> =>
  new Set(
    text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  );

/** Everything in them. Up to three segments, anywhere in a path. */
const FOLDERS = lines(`
  .ssh
  .aws
  .azure
  .gnupg
  .kube
  .midspan
  .password-store
  .claude
  .cursor
  .codex
  .gemini
  .codeium
  .continue
  .config/gcloud
  .config/gh
  .config/op
  .config/zed
  .config/goose
  .config/opencode
  .config/autostart
  .config/fish
  .config/systemd
  .local/share/keyrings
  .mozilla/firefox
  .git/hooks
  .husky
  library/keychains
  library/launchagents
  library/launchdaemons
  microsoft/credentials
  microsoft/protect
  microsoft/vault
  programs/startup
  etc/cron.d
  etc/sudoers.d
  etc/profile.d
  spool/cron
`);

/** The end of a path, one to three segments. */
const FILES = lines(`
  midspan.json
  midspan.lock.json
  .mcp.json
  mcp.json
  mcp_config.json
  mcp-config.json
  mcp_settings.json
  cline_mcp_settings.json
  claude_desktop_config.json
  .claude.json
  opencode.json
  zed/settings.json
  .vscode/settings.json
  .vscode/tasks.json
  .vscode/launch.json
  .netrc
  _netrc
  .npmrc
  .yarnrc
  .pypirc
  .git-credentials
  .gitconfig
  .git/config
  .pgpass
  .my.cnf
  .envrc
  .dockercfg
  .docker/config.json
  containers/auth.json
  .vault-token
  .cargo/credentials
  .cargo/credentials.toml
  .gem/credentials
  .terraform.d/credentials.tfrc.json
  application_default_credentials.json
  authorized_keys
  id_rsa
  id_dsa
  id_ecdsa
  id_ecdsa_sk
  id_ed25519
  id_ed25519_sk
  wallet.dat
  login data
  key4.db
  logins.json
  cookies.sqlite
  .bashrc
  .bash_profile
  .bash_login
  .bash_logout
  .bash_aliases
  .bash_history
  .profile
  .zshrc
  .zshenv
  .zprofile
  .zlogin
  .zlogout
  .zsh_history
  .kshrc
  .cshrc
  .tcshrc
  .xprofile
  .xinitrc
  .xsessionrc
  .pam_environment
  profile.ps1
  microsoft.powershell_profile.ps1
  microsoft.vscode_profile.ps1
  etc/shadow
  etc/sudoers
  etc/crontab
  etc/profile
  etc/ld.so.preload
  self/environ
`);

const KEY_STORES = ['.keychain', '.keychain-db', '.kdbx', '.p12', '.pfx', '.ppk'];

/** `.env` and its kind, but not the samples that are committed. */
const ENVIRONMENT = /^\.env(?:\..+)?$/;
const SAMPLE = /\.(?:example|sample|template|dist|defaults)$/;

const PROCESS_ENVIRONMENT = /^proc\/[^/]+\/environ$/;

/** Texts that an assistant obeys: reading them is its business, writing them changes what it will do. */
const STEERING = lines(`
  agents.md
  agent.md
  claude.md
  claude.local.md
  gemini.md
  .cursorrules
  .windsurfrules
  .clinerules
  .github/copilot-instructions.md
`);

const DEEPEST = 3;

/**
 * Whether a text can hold any of these: a name that starts with a dot, the first segment of one that does not, or an
 * ending. Undoing `..` and the like takes segments away and never makes one, so one look at the whole text is enough.
 */
export const mayBeProtected = (text: string): boolean => SIGNS.test(text);

const SIGNS = signs();

function signs(): RegExp {
  const first = [...FOLDERS, ...FILES, ...STEERING].map((path) => path.split('/')[0] ?? '');
  const named = new Set(first.filter((segment) => !segment.startsWith('.')));
  const escaped = (name: string): string => name.replaceAll('.', '\\.');
  const endings = KEY_STORES.map(escaped).join('|');
  return new RegExp(`(?<![a-z0-9])(?:\\.[a-z_]|${[...named].map(escaped).join('|')}|proc/)|${endings}`);
}

export function isSecret(segments: readonly string[]): boolean {
  for (let start = 0; start < segments.length; start += 1) {
    for (let length = 1; length <= DEEPEST && start + length <= segments.length; length += 1) {
      if (FOLDERS.has(segments.slice(start, start + length).join('/'))) return true;
    }
  }
  const name = segments.at(-1) ?? '';
  if (ENVIRONMENT.test(name) && !SAMPLE.test(name)) return true;
  if (KEY_STORES.some((ending) => name.endsWith(ending))) return true;
  return endsIn(FILES, segments) || PROCESS_ENVIRONMENT.test(segments.slice(-3).join('/'));
}

export const isSteering = (segments: readonly string[]): boolean => endsIn(STEERING, segments);

function endsIn(paths: ReadonlySet<string>, segments: readonly string[]): boolean {
  for (let length = 1; length <= DEEPEST; length += 1) {
    if (paths.has(segments.slice(-length).join('/'))) return true;
  }
  return false;
}
