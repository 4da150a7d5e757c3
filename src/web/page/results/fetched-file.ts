/** Files of the server that a worker reads: as rows, as a whole, and some of their bytes, as long as they are the same files. */
import { errorOf } from '../api/client.js';

export class NotFetched extends Error {}

/** The file is another one than its rows are of. */
export class FileChanged extends NotFetched {}

/** Reads bytes of a file. @throws FileChanged; NotFetched. */
export type ReadBytes = (start: number, end: number) => Promise<ArrayBuffer>;

/** All of these throw NotFetched. */
export interface FetchedFile {
  readonly rows: Promise<ArrayBuffer>;
  /** All of it. */
  readonly whole: () => Promise<ArrayBuffer>;
  /** Bytes of the file that the rows are of. */
  readonly readBytes: ReadBytes;
}

/** The header with the stamp of a file: proxies change an "etag" where they compress, and pass on headers that they do not know. */
const STAMP = 'tanren-stamp';

/** @param address with a query. */
export function openFile(address: string, token: string): FetchedFile {
  const response = ask(`${address}&as=rows`, token);
  return {
    rows: response.then(bytesOf),
    whole: async () => bytesOf(await ask(address, token)),
    async readBytes(start, end) {
      const known = (await response).headers.get(STAMP);
      if (known === null) throw new NotFetched(`the answer has no header "${STAMP}": a proxy before the server may have removed it`);
      return bytesOf(await ask(`${address}&bytes=${start}-${end}&known=${encodeURIComponent(known)}`, token));
    },
  };
}

/** The status of an answer about a file that is not the known one. */
const CHANGED = 412;

async function ask(path: string, token: string): Promise<Response> {
  const response = await fetch(path, { headers: { authorization: `Bearer ${token}` }, credentials: 'omit' }).catch(notFetched);
  if (response.status === CHANGED) throw new FileChanged(path);
  if (!response.ok) throw new NotFetched((await errorOf(response)).message);
  return response;
}

function bytesOf(response: Response): Promise<ArrayBuffer> {
  return response.arrayBuffer().catch(notFetched);
}

function notFetched(cause: unknown): never {
  throw new NotFetched('the server does not answer', { cause });
}
