/** COCO files as rows of numbers, without masks, and bytes of a file, such as those of the masks that a page shows. */
import { Readable, Transform } from 'node:stream';
import { openRowScanner } from '../../detection/coco/row-scanner.js';
import { RequestError } from '../http/read-body.js';

const NOTHING = Buffer.alloc(0);

/** The blocks of `openRowScanner`. Where rows cannot hold the file, they end without the last block. */
export function asRows(body: Buffer | Readable): Buffer | Readable {
  const scanner = openRowScanner();
  if (!(body instanceof Readable)) {
    const first = scanner.push(body);
    return first === undefined ? NOTHING : Buffer.concat([first, scanner.end() ?? NOTHING]);
  }
  const rows = new Transform({
    transform(piece: Buffer, _encoding, done) {
      const block = scanner.push(piece);
      if (block === undefined) {
        // The rest of the file is not read.
        body.unpipe(rows).destroy();
        rows.end();
      }
      done(null, block);
    },
    flush: done => done(null, scanner.end()),
  });
  body.once('error', error => rows.destroy(error));
  rows.once('close', () => body.destroy());
  return body.pipe(rows);
}

export interface ByteRange {
  readonly start: number;
  /** The byte after the last one. */
  readonly end: number;
}

/** More than the masks of an image have. */
const MOST_RANGE_BYTES = 16_000_000;

/** @param text "start-end", the end excluded. @throws RequestError `ui-bad-request`, `ui-too-large`. */
export function parseByteRange(text: string): ByteRange {
  const [, first = '', last = ''] = /^(\d{1,15})-(\d{1,15})$/.exec(text) ?? [];
  const [start, end] = [Number(first), Number(last)];
  if (first === '' || start >= end) throw new RequestError(400, 'ui-bad-request', `"${text.slice(0, 80)}" is no range of bytes`);
  if (end - start > MOST_RANGE_BYTES)
    throw new RequestError(413, 'ui-too-large', `the range has ${end - start} bytes: the page reads at most ${MOST_RANGE_BYTES}`);
  return { start, end };
}
