/**
 * The part of our environment that a stdio server inherits: what programs need to start, find their files, speak the
 * user's language and reach the network. Everything else (tokens above all) stays with us unless the configuration passes it on.
 */
const POSIX = [
  'HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER', 'LANG', 'LANGUAGE', 'TZ', 'TMPDIR',
  'XDG_CACHE_HOME', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_RUNTIME_DIR', 'XDG_STATE_HOME',
]; // prettier-ignore
const WINDOWS = [
  'APPDATA', 'COMMONPROGRAMFILES', 'COMSPEC', 'HOMEDRIVE', 'HOMEPATH', 'LOCALAPPDATA', 'NUMBER_OF_PROCESSORS', 'OS', 'PATH',
  'PATHEXT', 'PROCESSOR_ARCHITECTURE', 'PROGRAMDATA', 'PROGRAMFILES', 'PROGRAMFILES(X86)', 'PUBLIC', 'SYSTEMDRIVE', 'SYSTEMROOT',
  'TEMP', 'TMP', 'USERDOMAIN', 'USERNAME', 'USERPROFILE', 'WINDIR', 'LANG', 'TZ',
]; // prettier-ignore
/** Compared without case: both spellings of the proxy variables are in use. */
const NETWORK = [
  'HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY',
  'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE',
]; // prettier-ignore

/** @param own the environment of this process */
export function inheritedEnvironment(
  own: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const windows = platform === 'win32';
  const names = new Set(windows ? WINDOWS : POSIX);
  const network = new Set(NETWORK);
  const inherited: Record<string, string> = {};
  for (const [name, value] of Object.entries(own)) {
    const upper = name.toUpperCase();
    const wanted = names.has(windows ? upper : name) || network.has(upper) || name.startsWith('LC_');
    // Values that begin with "()" are exported shell functions.
    if (wanted && value !== undefined && !value.startsWith('()')) inherited[name] = value;
  }
  return inherited;
}
