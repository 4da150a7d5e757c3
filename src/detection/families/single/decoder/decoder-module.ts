/** User-defined decoders: loads the module text in a recipe, calls it, and checks its result. */
import { init, parse } from 'es-module-lexer';
import type { PartValuesByName } from '../../../detector/part-runner.js';
import { DetectionError } from '../../../error/detection-error.js';
import type { Candidates, DecodeContext, SquareMasks } from './candidates.js';
import type { ModuleDecoder } from './decoder.js';
import { getOutput } from './output-rows.js';

export type DecodeFunction = (values: PartValuesByName, context: DecodeContext) => Candidates;

/**
 * Loads the module. It may import only modules of Node, so that the text in the recipe is complete.
 * @throws DetectionError `decoder-module` where the module cannot be parsed, has other imports, fails to load, or does not export a function `decode`.
 */
export async function loadDecoder(decoder: ModuleDecoder): Promise<DecodeFunction> {
  await checkImports(decoder);
  const decode = await importDecode(decoder);
  return (values, context) => {
    const outputs = Object.fromEntries(
      decoder.outputs.map(name => {
        const { dims, data } = getOutput(values, name);
        return [name, { dims, data }];
      }),
    );
    const { input, classes, scoreThreshold } = context;
    return readResult(
      callDecode(decode, outputs, { input, classes, scoreThreshold, options: decoder.options }, decoder.name),
      classes,
      decoder.name,
    );
  };
}

async function checkImports({ name, source }: ModuleDecoder): Promise<void> {
  await init;
  const foreign = parseImports(name, source).filter(one => !one.startsWith('node:'));
  if (foreign.length === 0) return;
  throw moduleError(name, `imports ${foreign.join(', ')}`, {
    help: 'a decoder is a single file that may import only modules of Node, as node:…',
  });
}

/** Imported specifiers; "a computed name" for computed imports. */
function parseImports(name: string, source: string): readonly string[] {
  try {
    const [imports] = parse(source);
    return imports.flatMap(found => (found.type === 'import-meta' ? [] : [found.specifier ?? 'a computed name'].flat()));
  } catch (cause) {
    throw moduleError(name, 'is not a valid JavaScript module', { cause, help: messageOf(cause) });
  }
}

type UserDecode = (outputs: unknown, context: unknown) => unknown;

async function importDecode({ name, source }: ModuleDecoder): Promise<UserDecode> {
  // The comment makes stack traces show the file name instead of the data URL.
  const url = `data:text/javascript;base64,${Buffer.from(`${source}\n//# sourceURL=${encodeURI(name)}\n`).toString('base64')}`;
  const loaded: unknown = await import(url).catch(cause => {
    throw moduleError(name, `cannot be loaded: ${messageOf(cause)}`, { cause });
  });
  const decode = typeof loaded === 'object' && loaded !== null && 'decode' in loaded ? loaded.decode : undefined;
  if (typeof decode === 'function') return decode as UserDecode;
  throw moduleError(name, 'has no export `decode`', {
    help: 'export function decode(outputs, {input, classes, scoreThreshold, options}) { … }',
  });
}

function callDecode(decode: UserDecode, outputs: unknown, context: unknown, name: string): unknown {
  try {
    return decode(outputs, context);
  } catch (cause) {
    throw moduleError(name, `fails: ${messageOf(cause)}`, { cause });
  }
}

/** @throws DetectionError `decoder-result`. */
function readResult(result: unknown, classes: number, name: string): Candidates {
  const wrong = (problem: string): DetectionError =>
    new DetectionError('decoder-result', `decoder "${name}" ${problem}`, {
      help: 'expected result: {boxes, scores, classes}, with x1 y1 x2 y2 in pixels of the input, a score, and a class from 0 per object',
    });
  if (typeof result !== 'object' || result === null) throw wrong(`returns ${result === null ? 'null' : typeof result}, expected an object`);
  if ('then' in result) throw wrong('returns a promise, expected the result itself');
  const field = (key: string): unknown => (Object.hasOwn(result, key) ? (result as Readonly<Record<string, unknown>>)[key] : undefined);
  const scores = numbersOf(field('scores'));
  const boxes = numbersOf(field('boxes'));
  const labels = numbersOf(field('classes'));
  if (scores === undefined || boxes === undefined || labels === undefined)
    throw wrong(`returns no list of numbers in the field ${scores === undefined ? 'scores' : boxes === undefined ? 'boxes' : 'classes'}`);
  const count = scores.length;
  if (boxes.length !== 4 * count) throw wrong(`returns ${count} scores and ${boxes.length} box coordinates, expected ${4 * count}`);
  if (labels.length !== count) throw wrong(`returns ${count} scores and ${labels.length} classes`);
  const oddScore = scores.findIndex(score => !Number.isFinite(score));
  if (oddScore >= 0) throw wrong(`returns for object ${oddScore} the score ${scores[oddScore]}`);
  const oddClass = labels.findIndex(label => !(Number.isInteger(label) && label >= 0 && label < classes));
  if (oddClass >= 0) throw wrong(`returns for object ${oddClass} the class ${labels[oddClass]}; expected 0 to ${classes - 1}`);
  return { boxes, scores, classes: Int32Array.from(labels), masks: readMasks(field('masks'), count, wrong) };
}

function readMasks(masks: unknown, count: number, wrong: (problem: string) => DetectionError): SquareMasks | undefined {
  if (masks === undefined) return undefined;
  const { side, data, threshold = 0.5 } = (typeof masks === 'object' && masks !== null ? masks : {}) as Readonly<Record<string, unknown>>;
  const values = numbersOf(data);
  if (!(typeof side === 'number' && Number.isInteger(side) && side > 0) || values === undefined || typeof threshold !== 'number')
    throw wrong('returns invalid masks, expected {side, data, threshold}');
  if (values.length !== count * side * side) throw wrong(`returns ${values.length} mask values, expected ${count} · ${side} · ${side}`);
  return { kind: 'squares', side, data: values, threshold };
}

function numbersOf(value: unknown): Float32Array | undefined {
  if (Array.isArray(value)) return value.every(one => typeof one === 'number') ? Float32Array.from(value) : undefined;
  if (!ArrayBuffer.isView(value) || !isIterable(value)) return undefined;
  const numbers = Array.from(value);
  return numbers.every(one => typeof one === 'number') ? Float32Array.from(numbers) : undefined;
}

function isIterable(value: object): value is Iterable<unknown> {
  return Symbol.iterator in value;
}

function moduleError(name: string, problem: string, options: { cause?: unknown; help?: string } = {}): DetectionError {
  return new DetectionError('decoder-module', `decoder "${name}" ${problem}`, options);
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
