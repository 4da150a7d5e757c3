/** Server-sent events to all open pages. A page reads them by `fetch`, because an EventSource cannot send the token. */
import type { ServerResponse } from 'node:http';
import type { Json } from '../../base/json.js';
import { SECURITY_HEADERS } from '../access/security-headers.js';

/** More pages than people open. A further one is refused. */
const MOST_CLIENTS = 32;

/** A page that does not read is disconnected; it connects again, and asks for everything. */
const MOST_BUFFERED_BYTES = 4_000_000;

/** Proxies and tunnels end connections on which nothing is sent. */
const HEARTBEAT_MS = 20_000;

export interface EventStream {
  /** @returns false if there are too many pages already. */
  add(response: ServerResponse, first: readonly PageEvent[]): boolean;
  send(event: PageEvent): void;
  clients(): number;
  close(): void;
}

export interface PageEvent {
  readonly event: string;
  readonly data: Json;
}

export function openEventStream(onCount: (clients: number) => void): EventStream {
  const clients = new Set<ServerResponse>();
  let heartbeat: NodeJS.Timeout | undefined;
  const drop = (response: ServerResponse): void => {
    if (!clients.delete(response)) return;
    response.destroy();
    if (clients.size === 0) {
      clearInterval(heartbeat);
      heartbeat = undefined;
    }
    onCount(clients.size);
  };
  const write = (response: ServerResponse, text: string): void => {
    if (response.writableLength > MOST_BUFFERED_BYTES) drop(response);
    else response.write(text);
  };
  return {
    add(response, first) {
      if (clients.size >= MOST_CLIENTS) return false;
      response.writeHead(200, { ...SECURITY_HEADERS, 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
      clients.add(response);
      response.on('close', () => drop(response));
      response.on('error', () => drop(response));
      heartbeat ??= setInterval(() => {
        for (const one of clients) write(one, ': \n\n');
      }, HEARTBEAT_MS).unref();
      write(response, first.map(encode).join(''));
      onCount(clients.size);
      return true;
    },
    send(event) {
      const text = encode(event);
      for (const client of clients) write(client, text);
    },
    clients: () => clients.size,
    close() {
      for (const client of [...clients]) drop(client);
    },
  };
}

function encode({ event, data }: PageEvent): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
