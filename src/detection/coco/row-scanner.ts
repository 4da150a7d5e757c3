/**
 * COCO results and instances files as rows of numbers, read from their bytes piece by piece: without texts and masks, most of the bytes are
 * gone. Where rows cannot hold a file exactly, they end without the last block, and the reader takes the file itself.
 */
import { CLOSE_LIST, CLOSE_OBJECT, JsonBytes, OPEN_LIST, OPEN_OBJECT, stopOf, unfit } from './json-bytes.js';
import { type RowPlace, readRow } from './read-row.js';
import { BLOCKS, encodeBlock, ROW_LENGTH } from './row-blocks.js';

export interface RowScanner {
  /** Blocks of what is complete; undefined where rows cannot hold it. */
  push(piece: Buffer): Uint8Array | undefined;
  /** The last blocks; undefined where rows cannot hold the file, or it breaks off. */
  end(): Uint8Array | undefined;
}

/** A member or an object of more is for other readers. */
const MOST_PENDING_BYTES = 64_000_000;

/** `{"image_id":1,"category_id":1,"bbox":[0,0,1,1],"score":1}` has more. */
const LEAST_ROW_BYTES = 40;

const NOTHING = new Uint8Array(0);

export function openRowScanner(): RowScanner {
  const file = new CocoText();
  let isUnfit = false;
  let pieces: Buffer[] = [];
  let pendingBytes = 0;
  let wantedBytes = 0;
  /** The place of the pending bytes in the file. */
  let base = 0;
  let rows = new Float64Array(0);
  const scan = (): Uint8Array => {
    const [first = Buffer.alloc(0)] = pieces;
    const json = new JsonBytes(pieces.length === 1 ? first : Buffer.concat(pieces));
    const most = ROW_LENGTH * Math.ceil(json.bytes.length / LEAST_ROW_BYTES);
    if (rows.length < most) rows = new Float64Array(most);
    const { done, count, stop } = file.read(json, base, rows);
    isUnfit = stop === 'unfit';
    pieces = done === json.bytes.length ? [] : [Buffer.from(json.bytes.subarray(done))];
    pendingBytes = json.bytes.length - done;
    // What is not complete is read again when there is twice as much: the time stays linear.
    wantedBytes = 2 * pendingBytes;
    base += done;
    return count === 0 ? NOTHING : encodeBlock(BLOCKS.rows, new Uint8Array(rows.buffer, 0, count * ROW_LENGTH * rows.BYTES_PER_ELEMENT));
  };
  return {
    push(piece) {
      pieces.push(piece);
      pendingBytes += piece.length;
      isUnfit ||= pendingBytes > MOST_PENDING_BYTES;
      if (isUnfit) return undefined;
      const block = pendingBytes < wantedBytes ? NOTHING : scan();
      return isUnfit ? undefined : block;
    },
    end() {
      const last = isUnfit || pieces.length === 0 ? NOTHING : scan();
      if (isUnfit || !file.isComplete()) return undefined;
      return Buffer.concat([last, ...file.lastBlocks()]);
    },
  };
}

interface ReadUnits {
  /** The place after the last unit that was complete. */
  readonly done: number;
  /** Rows that were filled. */
  readonly count: number;
  readonly stop: ReturnType<typeof stopOf>;
}

/** What comes next: a member of an instances file, an object of one of the lists, or nothing. */
type State = 'start' | 'results' | 'members' | 'annotations' | 'after-annotations' | 'tail';

const [ANNOTATIONS, COMMA] = [Buffer.from('annotations'), Buffer.from(',')];

/** How far a file is read: unit by unit, an object of a list or another member of the file. Nothing is kept of a unit that is not complete. */
class CocoText {
  private state: State = 'start';
  /** Whether the list or object has a member so far. */
  private isBegun = false;
  private hasAnnotations = false;
  private isList = false;
  private count = 0;
  /** The other members of an instances file, with commas between them. */
  private readonly rest: Buffer[] = [];

  read(json: JsonBytes, base: number, rows: Float64Array): ReadUnits {
    const before = this.count;
    const place = { of: 'results', base, rows, at: 0 } satisfies RowPlace as RowPlace;
    let done = 0;
    try {
      while (this.state !== 'tail') {
        place.at = ROW_LENGTH * (this.count - before);
        this.step(json, place);
        done = json.at;
      }
      json.peek();
      unfit();
    } catch (error) {
      const stop = stopOf(error);
      if (stop === undefined) throw error;
      // After the last unit there is only space.
      return { done: this.state === 'tail' ? json.at : done, count: this.count - before, stop };
    }
  }

  isComplete(): boolean {
    return this.state === 'tail';
  }

  lastBlocks(): readonly Uint8Array[] {
    const end = encodeBlock(BLOCKS.end, new Uint8Array(Float64Array.of(this.count).buffer));
    if (this.isList) return [end];
    return [encodeBlock(BLOCKS.rest, Buffer.concat([Buffer.from('{'), ...this.rest, Buffer.from('}')])), end];
  }

  private step(json: JsonBytes, place: RowPlace): void {
    switch (this.state) {
      case 'start':
        this.isList = json.take(OPEN_LIST);
        if (!this.isList) json.expect(OPEN_OBJECT);
        this.state = this.isList ? 'results' : 'members';
        return;
      case 'after-annotations':
        this.state = json.passSeparator(CLOSE_OBJECT) ? 'members' : 'tail';
        return;
      case 'members':
        if (this.isBegun || !json.take(CLOSE_OBJECT)) this.readMember(json);
        else this.state = 'tail';
        return;
      case 'results':
      case 'annotations': {
        const after = this.state === 'results' ? 'tail' : 'after-annotations';
        if (!this.isBegun && json.take(CLOSE_LIST)) this.state = after;
        else {
          place.of = this.state;
          readRow(json, place);
          if (!json.passSeparator(CLOSE_LIST)) this.state = after;
          this.count++;
        }
        this.isBegun = true;
        return;
      }
      default:
        unfit();
    }
  }

  private readMember(json: JsonBytes): void {
    json.peek();
    const first = json.at;
    json.passName();
    if (json.isName(ANNOTATIONS)) {
      // Of equal names the last one counts.
      if (this.hasAnnotations) unfit();
      json.expect(OPEN_LIST);
      this.hasAnnotations = true;
      this.state = 'annotations';
      this.isBegun = false;
      return;
    }
    if (json.hasEscapedName()) unfit();
    json.passValue();
    const member = Buffer.from(json.bytes.subarray(first, json.at));
    if (!json.passSeparator(CLOSE_OBJECT)) this.state = 'tail';
    this.isBegun = true;
    this.rest.push(...(this.rest.length === 0 ? [] : [COMMA]), member);
  }
}
