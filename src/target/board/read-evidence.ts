/** The evidence in the files of one run on a board. Each file is recognized by its content. */
import { type Json, parseJson } from '../../base/json.js';
import { TargetError } from '../report/target-error.js';
import { type Evidence, NOTHING } from './evidence.js';
import { isAssignment, isContext, isPlan, readAssignment, readContext, readPlan, readUnsupported } from './json-files.js';
import { hasMessages, readLog } from './log-lines.js';

export interface BoardFile {
  /** As messages name it. */
  readonly name: string;
  readonly bytes: Uint8Array;
  /** 'found': in a folder; ignored if nothing in it is known. */
  readonly origin: 'named' | 'found';
}

/**
 * All evidence of the files.
 * @throws TargetError `board-file-malformed`; `board-file-unknown` for a named file without a known form; `board-files-missing` if no file has one;
 *   `board-files-conflict` for assignment reports of several runs.
 */
export function readEvidence(files: readonly BoardFile[]): Evidence {
  const read = files.flatMap(file => {
    const evidence = readFile(file);
    if (evidence !== undefined) return [{ file, evidence }];
    if (file.origin === 'found') return [];
    throw new TargetError('board-file-unknown', `${file.name} is no report, log or list of the vendor's runtime`, { help: EXPECTED });
  });
  if (read.length === 0) throw new TargetError('board-files-missing', 'no file of a run on a board was found', { help: EXPECTED });
  return read.reduce<Evidence & { readonly from?: string }>((all, { file, evidence }) => join(all, evidence, file.name), NOTHING);
}

const EXPECTED =
  'name vitisai_ep_report.json, context.json, aie_unsupported_original_ops.json, a summary of VAIML or the text that the run printed, or the folder that has them';

function join(all: Evidence & { readonly from?: string }, one: Evidence, name: string): Evidence & { readonly from?: string } {
  const isOther = all.context?.model !== undefined && one.context?.model !== undefined && all.context.model !== one.context.model;
  if (isOther || (all.assignment !== undefined && one.assignment !== undefined && !isSame(all, one)))
    throw new TargetError('board-files-conflict', `${all.from ?? 'an earlier file'} and ${name} are of two runs`, {
      help: 'name the files of one run',
    });
  const assigned = one.assignment ?? all.assignment;
  const from = one.assignment === undefined && one.context === undefined ? all.from : name;
  const context = one.context ?? all.context;
  return {
    ...(assigned === undefined ? {} : { assignment: assigned }),
    ...(from === undefined ? {} : { from }),
    ...(context === undefined ? {} : { context }),
    reasons: [...all.reasons, ...one.reasons],
    targets: [...new Set([...all.targets, ...one.targets])],
    // VAIML writes a preliminary summary, and a final one.
    summary: name.includes('preliminary') ? { ...one.summary, ...all.summary } : { ...all.summary, ...one.summary },
    plan: { ...all.plan, ...one.plan },
  };
}

/** Two copies of one report are no conflict. */
function isSame({ assignment: a }: Evidence, { assignment: b }: Evidence): boolean {
  return JSON.stringify(a?.nodes) === JSON.stringify(b?.nodes);
}

function readFile({ name, bytes, origin }: BoardFile): Evidence | undefined {
  const content = decodeText(bytes);
  const isJson = /^\s*[[{]/.test(content.slice(0, 1000)) && (name.endsWith('.json') || origin === 'named');
  const json = isJson ? parseJson(content) : undefined;
  if (json !== undefined) return readJson(json, name);
  if (name.endsWith('.json') && (origin === 'named' || KNOWN.test(name)))
    throw new TargetError('board-file-malformed', `${name} is not JSON, or was cut off`, {
      help: 'copy the file from the board again, or leave it out',
    });
  const log = readLog(content, name);
  return hasMessages(log) ? log : undefined;
}

const LIST = /aie_unsupported_original_ops[^/]*\.json$/;
const KNOWN = /(?:vitisai_ep_report|context|fail_safe_summary|aie_unsupported_original_ops[^/]*)\.json$/;

function readJson(json: Json, name: string): Evidence | undefined {
  if (isAssignment(json)) return { ...NOTHING, assignment: readAssignment(json, name) };
  if (isContext(json)) return readContext(json, name);
  if (isPlan(json)) return readPlan(json, name);
  return LIST.test(name) ? readUnsupported(json, name) : undefined;
}

/** PowerShell's `>` writes UTF-16 with a byte order mark. Invalid bytes are replaced. */
export function decodeText(bytes: Uint8Array): string {
  const isWide = bytes[0] === 0xff && bytes[1] === 0xfe;
  return new TextDecoder(isWide ? 'utf-16le' : 'utf-8').decode(bytes);
}
