/** Requests to a running `tanren ui`, with any header, and its events. */
import { type IncomingMessage, request } from 'node:http';
import type { CliProcess } from './cli-world.js';

export interface PageAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface PageRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface PageServer {
  readonly port: number;
  readonly token: string;
  /** With the token, unless the headers set another `authorization`. */
  ask(path: string, how?: PageRequest): Promise<PageAnswer>;
  /** The value of a JSON answer. */
  json<T>(path: string): Promise<T>;
  post(name: string, body: unknown): Promise<PageAnswer>;
  /** Follows the events. `next` resolves with the first event from now on that `matches`. */
  follow(): { next<T>(event: string, matches?: (data: T) => boolean): Promise<T>; close(): void };
}

/** Waits for the address that `tanren ui` or `watch --ui` prints. */
export async function findPage(process: CliProcess): Promise<PageServer> {
  const marker = '/#token=';
  await process.waitFor(marker);
  const found = /http:\/\/127\.0\.0\.1:(\d+)\/#token=([\w-]{43})/.exec(
    (await process.waitFor('\n').then(() => process.output())) as string,
  );
  return pageAt(Number(found?.[1]), found?.[2] ?? '');
}

export function pageAt(port: number, token: string): PageServer {
  const own = { host: `127.0.0.1:${port}`, authorization: `Bearer ${token}` };
  const ask: PageServer['ask'] = (path, { method = 'GET', headers = {}, body } = {}) =>
    new Promise((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, path, method, headers: { ...own, ...headers }, agent: false }, answer => {
        let text = '';
        answer.setEncoding('utf8').on('data', piece => {
          text += piece;
        });
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: text }));
        answer.on('error', reject);
      });
      sent.on('error', reject);
      sent.end(body);
    });
  return {
    port,
    token,
    ask,
    async json(path) {
      const { status, body } = await ask(`/api/${path}`);
      if (status !== 200) throw new Error(`${path}: ${status} ${body}`);
      return JSON.parse(body);
    },
    post: (name, body) =>
      ask(`/api/${name}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    follow: () => followEvents(port, own),
  };
}

function followEvents(port: number, headers: Readonly<Record<string, string>>): ReturnType<PageServer['follow']> {
  const waiting: { readonly event: string; readonly take: (data: unknown) => boolean }[] = [];
  const seen: { readonly event: string; readonly data: unknown }[] = [];
  const sent = request({ host: '127.0.0.1', port, path: '/api/events', headers, agent: false }, answer => {
    let rest = '';
    answer.setEncoding('utf8').on('data', (text: string) => {
      const blocks = (rest + text).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const [, event, data] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? [];
        if (event !== undefined && data !== undefined) note(event, JSON.parse(data));
      }
    });
  });
  const note = (event: string, data: unknown): void => {
    seen.push({ event, data });
    for (const one of [...waiting]) if (one.event === event && one.take(data)) waiting.splice(waiting.indexOf(one), 1);
  };
  sent.on('error', () => undefined);
  sent.end();
  return {
    next: <T>(event: string, matches: (data: T) => boolean = () => true) =>
      new Promise<T>(resolve => {
        const take = (data: unknown): boolean => {
          if (!matches(data as T)) return false;
          resolve(data as T);
          return true;
        };
        if (!seen.some(one => one.event === event && take(one.data))) waiting.push({ event, take });
      }),
    close: () => void sent.destroy(),
  };
}
