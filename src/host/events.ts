/** What a host tells of while it lives. */
import type { MidspanError } from '../errors.ts';
import type { ServerState } from '../servers/server.ts';
import type { Json } from '../types.ts';

export type HostEvent =
  | { type: 'server'; label: string; state: ServerState; error?: MidspanError }
  | { type: 'catalog' }
  | { type: 'log'; label: string; level: string; logger?: string; data: Json | undefined }
  /** Somebody follows this resource (`follow`), and it is another now. By the server's own URI. */
  | { type: 'resource-updated'; label: string; uri: string }
  | { type: 'warning'; label?: string; message: string };
