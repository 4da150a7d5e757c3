import { digestBytes } from '../../../base/digest.js';
import type { NewFile } from '../../../base/files/write-beside.js';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../../base/json.js';
import { explainNodes, reportBoard } from '../../../target/board/board-report.js';
import { isAssignment } from '../../../target/board/json-files.js';
import { type Learned, learn } from '../../../target/board/learn.js';
import { compareWithPrediction, withReasons } from '../../../target/board/merge-reasons.js';
import { decodeText, readEvidence } from '../../../target/board/read-evidence.js';
import { TargetError } from '../../../target/report/target-error.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { writeFiles } from '../../process/write-files.js';
import { formatBoardReport } from '../../render/board-report.js';
import { type Console, makeConsole } from '../../terminal/console.js';
import { endWithError } from '../../terminal/end-with-error.js';
import { type CollectedFile, collectBoardFiles, readBounded } from './board-files.js';
import { readOwnProfile } from './own-profile.js';

export interface BoardReportOptions {
  readonly json: boolean;
  readonly all: boolean;
  /** A bundle's report/NAME.predicted.json. */
  readonly predicted?: string;
  /** The vendor's report with the reasons. */
  readonly output?: string;
  /** The profile that gets the observations. */
  readonly learn?: string;
  readonly target: string;
  readonly device?: string;
  readonly dtype?: string;
  readonly software?: string;
  readonly date?: string;
}

export async function runBoardReport(paths: readonly string[], options: BoardReportOptions): Promise<ExitCode> {
  const console = makeConsole({ json: options.json });
  try {
    const files = await collectBoardFiles(paths);
    const evidence = readEvidence(files);
    const explained = explainNodes(evidence);
    const report = reportBoard(evidence, explained);
    const comparison =
      options.predicted === undefined
        ? undefined
        : compareWithPrediction(await readPrediction(options.predicted), options.predicted, explained);
    const learned =
      options.learn === undefined
        ? undefined
        : learn(evidence, explained, {
            profile: await readOwnProfile(options.learn, options.target),
            choice: choiceOf(options),
            date: options.date ?? newestDate(files),
            digest: digestBytes(files.map(({ bytes }) => digestBytes(bytes)).join('\n')),
          });
    await writeFiles([
      ...(options.output === undefined ? [] : [jsonFile(options.output, withReasons(assignmentOf(files), explained))]),
      ...(options.learn === undefined || learned === undefined ? [] : [jsonFile(options.learn, learned.profile)]),
    ]);
    if (options.json) printJson(console, report, comparison, learned);
    else
      for (const line of formatBoardReport(report, {
        comparison,
        learned,
        profile: options.learn,
        show: options.all ? 'all' : 'some',
        style: console.style,
      }))
        console.line(line);
    return comparison === undefined || comparison.differences.length === 0 ? EXIT.built : EXIT.failed;
  } catch (error) {
    return endWithError(error, console, options, EXIT.usage);
  }
}

function printJson(console: Console, report: object, comparison: object | undefined, learned: Learned | undefined): void {
  const { profile: _profile, ...rest } = learned ?? { profile: undefined };
  console.json({ ...report, ...(comparison === undefined ? {} : { comparison }), ...(learned === undefined ? {} : { learned: rest }) });
}

/** What was observed holds for one data type and version, which no file of the vendor states reliably. */
function choiceOf({ device, dtype, software }: BoardReportOptions): { device?: string; dtype: string; version: string } {
  if (dtype === undefined || software === undefined) {
    throw new TargetError('board-scope', '`--learn` needs the data type and the software version of the run', {
      help: 'set --dtype and --software, for example --dtype xint8 --software 1.7.1',
    });
  }
  return { ...(device === undefined ? {} : { device }), dtype, version: software };
}

async function readPrediction(path: string): Promise<Json> {
  const json = parseJson(decodeText(await readBounded(path)));
  if (json !== undefined && isAssignment(json)) return json;
  throw new TargetError('board-file-unknown', `${path} is no prediction of a bundle`, {
    help: 'name report/NAME.predicted.json of the bundle',
  });
}

function assignmentOf(files: readonly CollectedFile[]): JsonObject {
  for (const { bytes } of files) {
    const json = parseJson(decodeText(bytes));
    if (isJsonObject(json) && isAssignment(json)) return json;
  }
  throw new TargetError('board-files-missing', 'the reasons need a report to be added to', { help: 'name vitisai_ep_report.json too' });
}

/** The day on which the newest file was written. */
function newestDate(files: readonly CollectedFile[]): string {
  return new Date(Math.max(...files.map(({ modifiedMs }) => modifiedMs))).toISOString().slice(0, 10);
}

function jsonFile(path: string, json: JsonObject): NewFile {
  return { path, write: async file => file.writeFile(`${JSON.stringify(json, null, 2)}\n`) };
}
