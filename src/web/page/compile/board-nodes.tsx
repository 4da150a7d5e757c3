/** Where a board ran the nodes, beside where they were predicted: of stages that write what `board-report --json` prints. */
import { formatJsonProblems, readJsonShape } from '../../../base/json/json-shape.js';
import { isJsonObject, type Json } from '../../../base/json.js';
import { readerOf } from '../../../base/schema/schema-reader.js';
import { formatCount } from '../../../report/numbers.js';
import type { StageRow } from '../../../report/views/pipeline-data.js';
import { BOARD_REPORT_FORMAT, BOARD_REPORT_SCHEMA, type BoardReport } from '../../../target/board/board-report.js';
import { ApiError, address, NOT_JSON } from '../api/client.js';
import { useData } from '../api/use-data.js';
import { Link } from '../parts/link.js';
import { Failed, OutOfDate } from '../parts/notice.js';
import { type PlainColumn, PlainTable } from '../parts/plain-table.js';
import { plainText } from '../parts/text.js';
import type { CompileReport } from './compile-report.js';
import { type BoardNodeRow, isSurprise, joinBoardReport } from './join-board-report.js';

/** Larger files are none of these reports. */
const MOST_BYTES = 20_000_000;

/** Nodes that the table shows. */
const MOST_ROWS = 200;

/** Outputs of other programs that may be reports of a board; their content says whether they are. */
export function findBoardOutputs(stages: readonly StageRow[]) {
  return stages.flatMap(stage =>
    stage.plugin === 'command' && stage.built
      ? stage.outputs
          .filter(
            ({ kind, tree, absent, sizeBytes = 0 }) =>
              ['json', 'report', 'any'].includes(kind) && !tree && absent !== true && sizeBytes < MOST_BYTES,
          )
          .map(output => ({ stage, output }))
      : [],
  );
}

interface BoardProps {
  readonly report: CompileReport;
  readonly stages: readonly StageRow[];
}

export function BoardNodes({ report, stages }: BoardProps) {
  return (
    <>
      {findBoardOutputs(stages).map(({ stage, output }) => (
        <OneReport key={`${stage.id}.${output.port}`} report={report} stage={stage} output={output} />
      ))}
    </>
  );
}

interface OneProps {
  readonly report: CompileReport;
  readonly stage: StageRow;
  readonly output: StageRow['outputs'][number];
}

function OneReport({ report, stage, output: { port, digest } }: OneProps) {
  const { data, error } = useData(address('artifact', { stage: stage.id, port, v: digest?.slice(0, 16) }), 'once', readBoardReport);
  // The output of a command may be any file.
  if (error?.code === NOT_JSON) return null;
  if (error !== undefined) return <Failed error={error} />;
  if (data === undefined || data === 'another') return null;
  const rows = joinBoardReport(report, data);
  const { npu, cpu, host } = data.counts;
  return (
    <section>
      <h2>Where the board ran the nodes</h2>
      <p class="soft">
        By {stage.id}.{port}: {formatCount(npu)} nodes on the NPU, {formatCount(cpu)} on the CPU, {formatCount(host)} on the host.{' '}
        {formatCount(rows.filter(isSurprise).length)} of those off the NPU were predicted on it. <OutOfDate stage={stage} />
      </p>
      <PlainTable
        label={`Nodes off the NPU by ${stage.id}`}
        rows={rows.slice(0, MOST_ROWS)}
        columns={COLUMNS}
        keyOf={({ node }, index) => `${index} ${node}`}
        none="No node was off the NPU."
      />
      {rows.length > MOST_ROWS && <p class="soft">and {formatCount(rows.length - MOST_ROWS)} more</p>}
    </section>
  );
}

/** @returns 'another' for another kind of document. @throws ApiError `report-input`. */
function readBoardReport(json: Json): BoardReport | 'another' {
  if (!isJsonObject(json) || json.format !== BOARD_REPORT_FORMAT) return 'another';
  const read = readJsonShape(reader, json);
  if (read.kind === 'ok') return read.value;
  throw new ApiError(
    0,
    'report-input',
    `invalid report of a board: ${formatJsonProblems(read.problems).slice(0, 5).join('; ')}`,
    'write it again by “tanren board-report --json”',
  );
}

const reader = readerOf(BOARD_REPORT_SCHEMA);

const COLUMNS: readonly PlainColumn<BoardNodeRow>[] = [
  {
    title: 'Node',
    cell: ({ node, predicted }) =>
      predicted === undefined ? (
        plainText(node)
      ) : (
        <Link view="compile" query={{ model: predicted.model, unit: String(predicted.unit.id) }}>
          {plainText(node)}
        </Link>
      ),
  },
  { title: 'Operator', cell: ({ op }) => plainText(op) },
  {
    title: 'Predicted',
    cell: row =>
      row.predicted === undefined ? (
        'not in these models'
      ) : isSurprise(row) ? (
        <span class="warn">NPU</span>
      ) : (
        row.predicted.unit.device.toUpperCase()
      ),
  },
  { title: 'Board', cell: ({ place }) => place.toUpperCase() },
  {
    title: 'Reason of the board',
    look: 't soft',
    cell: ({ reasons }) => (reasons.length === 0 ? 'none given' : plainText(reasons.join('; '))),
  },
];
