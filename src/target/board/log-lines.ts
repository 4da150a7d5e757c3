/** Reads the messages of the vendor's runtime from the text that a run printed, or from VAIML's summary file. */
import { clipText } from '../../base/text/clip-text.js';
import { type Evidence, NOTHING, type Reason, type SummaryCount } from './evidence.js';

/** Longer lines are cut: a message stands at the start of its line. */
const MOST_CHARACTERS = 4000;
const MOST_REASON = 400;
const MOST_REASONS = 100_000;

/** The evidence in a text; lines without a known message are ignored. */
export function readLog(content: string, file: string): Evidence {
  const reasons: Reason[] = [];
  const targets = new Set<string>();
  const summary: Record<string, SummaryCount> = {};
  let number = 0;
  for (const whole of content.split(/\r\n|\n|\r/)) {
    number++;
    const line = whole.length > MOST_CHARACTERS ? whole.slice(0, MOST_CHARACTERS) : whole;
    const target = findTarget(line);
    if (target !== undefined) targets.add(target);
    const reason = findReason(line);
    if (reason !== undefined && reasons.length < MOST_REASONS) reasons.push({ ...reason, at: `${file}:${number}` });
    const [, name, count, percent] = SUMMARY.exec(line) ?? [];
    if (name !== undefined && count !== undefined)
      summary[name] = { count: Number(count), ...(percent === undefined ? {} : { percent: Number(percent) }) };
  }
  return { ...NOTHING, reasons, targets: [...targets], summary };
}

/** Whether the text has at least one known message. */
export function hasMessages({ reasons, targets, summary }: Evidence): boolean {
  return reasons.length > 0 || targets.length > 0 || Object.keys(summary).length > 0;
}

/** "Number of operators supported by VAIML: 122 (100.000%)", "GOPs offloaded by VAIML: 7.768 (100.000%)". */
const SUMMARY =
  /(?:Number of )?((?:operators|GOPs|subgraphs) (?:in the model|of the model|supported by VAIML|offloaded by VAIML|with compilation errors|below \d{1,3}% GOPs threshold))[^:]{0,40}: {0,9}(\d{1,15}(?:\.\d{1,9})?)(?: {0,9}\((\d{1,3}(?:\.\d{1,9})?)%\))?/;

const TARGET = /(?:target \[|compiled\.)(AMD_AIE[A-Za-z0-9_]{1,80})/;

function findTarget(line: string): string | undefined {
  return TARGET.exec(line)?.[1];
}

type Found = Omit<Reason, 'at'>;

function findReason(line: string): Found | undefined {
  return findPartitioned(line) ?? findCancelled(line) ?? findCode(line) ?? findWholeModel(line);
}

/** xir::Op{name = (/conv/Conv_output_0)_suffix, type = qlinear-conv} is partitioned to CPU as :  doesn't supported by target [AMD_AIE2P_4x8_CMC_Overlay]. */
const PARTITIONED = /xir::Op\{name = (.{1,1500}?), type = ([\w-]{1,80})\} is partitioned to CPU as {0,9}: {0,9}(.{0,400})/;

function findPartitioned(line: string): Found | undefined {
  const [, subject, type, why] = PARTITIONED.exec(line) ?? [];
  if (subject === undefined || type === undefined || why === undefined) return undefined;
  return { kind: 'partitioner', text: clean(why), subject: unwrap(subject), type };
}

/** "(output)_replaced_input236" → "output". Some messages lack the closing parenthesis. */
function unwrap(name: string): string {
  if (!name.startsWith('(')) return name;
  const end = name.lastIndexOf(')');
  return end < 0 ? name.slice(1) : name.slice(1, end);
}

const CANCELLED = 'cancel xir conversion';

/** cancel xir conversion, dynamic shape found: @12 [y:(ty=1,shape=[-1,64])] Conv [x:(…),w:(…)] */
function findCancelled(line: string): Found | undefined {
  const start = line.indexOf(CANCELLED);
  if (start < 0) return undefined;
  const rest = line.slice(start + CANCELLED.length).replace(/^[\s,:]+/, '');
  const node = /@\d{1,9} \[/.exec(rest);
  if (node === null) return { kind: 'conversion', text: clean(rest) };
  const listed = rest.slice(node.index + node[0].length);
  const end = listed.search(/:\(|\]|,/);
  const why = clean(rest.slice(0, node.index));
  const subject = end < 0 ? '' : listed.slice(0, end);
  return { kind: 'conversion', text: why === '' ? 'not converted' : why, ...(subject === '' ? {} : { subject }) };
}

/** ERROR: [VAIML-BE-SKGEN 11005] Flexible L1 placement failure in layer 105 */
const CODE = /(?:ERROR|FATAL): {0,9}\[(VAIML-[A-Z0-9-]{1,60} \d{1,9})\] {0,9}(.{0,400})/;

function findCode(line: string): Found | undefined {
  const [, code, message] = CODE.exec(line) ?? [];
  return code === undefined ? undefined : { kind: 'compiler-error', text: clean(`${code}: ${message ?? ''}`) };
}

/** Messages about a subgraph or the model as a whole. */
const WHOLE_MODEL: readonly string[] = [
  'This model is not a supported CNN model',
  '[DISABLE CPU ONLY]',
  'Catch fatal exception, skip this subgraph',
  'Unexcepted exception',
  'Failed to open xclbin',
  'Cannot find or create target with fingerprint',
];

function findWholeModel(line: string): Found | undefined {
  const found = WHOLE_MODEL.map(message => line.indexOf(message)).find(index => index >= 0);
  return found === undefined ? undefined : { kind: 'whole-model', text: clean(line.slice(found)) };
}

/** Without control characters, which a log may contain, and without the final period. */
function clean(message: string): string {
  return clipText(
    message
      .replace(/\p{Cc}/gu, ' ')
      .trim()
      .replace(/[:.\s]+$/, ''),
    MOST_REASON,
  );
}
