/** What is predicted for each model beside what a board reported: two columns that are never mixed. */
import { useCallback, useEffect, useState } from 'preact/hooks';
import { formatJsonProblems, readJsonShape } from '../../../base/json/json-shape.js';
import { isJsonObject, type Json } from '../../../base/json.js';
import { formatNumber } from '../../../report/numbers.js';
import type { StageRow } from '../../../report/views/pipeline-data.js';
import { type BenchReport, readBenchReport } from '../../../runtime/measure/bench-report.js';
import { ApiError, address } from '../api/client.js';
import { useData } from '../api/use-data.js';
import { Empty, Failed, OutOfDate } from '../parts/notice.js';
import { type PlainColumn, PlainTable } from '../parts/plain-table.js';
import { plainText } from '../parts/text.js';
import type { CompileReport } from './compile-report.js';
import { type BoardRow, isOfBoard, joinBoard } from './join-board.js';

interface BoardProps {
  readonly report: CompileReport;
  readonly stages: readonly StageRow[];
}

/** Stages with reports of `bench`. Which of them are of a board is in the reports. */
export function BoardTimes({ report, stages }: BoardProps) {
  const benches = stages.filter(
    ({ plugin, built, outputs }) => plugin === 'bench' && built && outputs.some(({ port, absent }) => port === 'report' && absent !== true),
  );
  const [others, setOthers] = useState<readonly string[]>([]);
  const tellOther = useCallback((id: string) => setOthers(before => [...before, id]), []);
  return (
    <section>
      <h2>Predicted and measured on the board</h2>
      {benches.map(stage => (
        <OneBoard key={keyOf(stage)} report={report} stage={stage} tellOther={tellOther} />
      ))}
      {benches.every(stage => others.includes(keyOf(stage))) && <NoBoard />}
    </section>
  );
}

/** Changes with the report. */
function keyOf({ id, outputs }: StageRow): string {
  return `${id} ${outputs.find(({ port }) => port === 'report')?.digest ?? ''}`;
}

function NoBoard() {
  return (
    <Empty>
      No stage has figures of a board. “runner.py check --json” of the bundle writes them on the board; a stage that uses “bench” takes the
      file as <code>measured</code>.
    </Empty>
  );
}

interface OneProps {
  readonly report: CompileReport;
  readonly stage: StageRow;
  /** Is told the key of a stage whose report is of another machine. */
  readonly tellOther: (key: string) => void;
}

function OneBoard({ report, stage, tellOther }: OneProps) {
  const digest = stage.outputs.find(({ port }) => port === 'report')?.digest?.slice(0, 16);
  const { data, error } = useData(address('artifact', { stage: stage.id, port: 'report', v: digest }), 'once', parseBench);
  const isOther = data !== undefined && !isOfBoard(data);
  useEffect(() => {
    if (isOther) tellOther(keyOf(stage));
  }, [isOther]);
  if (error !== undefined) return <Failed error={error} />;
  if (data === undefined || isOther) return null;
  return (
    <>
      <p class="soft">
        Measured by {stage.id}
        {nameOf(data)}. <OutOfDate stage={stage} />
      </p>
      <PlainTable
        label={`Predicted and measured by ${stage.id}`}
        rows={joinBoard(report, data)}
        columns={COLUMNS}
        keyOf={({ model }) => model}
      />
    </>
  );
}

function nameOf({ where }: BenchReport): string {
  const { identity } = where;
  const device = isJsonObject(identity) && isJsonObject(identity.device) ? identity.device.name : where.label;
  return typeof device === 'string' && device !== '' ? ` on ${plainText(device)}` : '';
}

/** @throws ApiError `report-input`. */
function parseBench(json: Json): BenchReport {
  const read = readJsonShape(readBenchReport, json);
  if (read.kind === 'ok') return read.value;
  throw new ApiError(
    0,
    'report-input',
    `invalid report of bench: ${formatJsonProblems(read.problems).slice(0, 5).join('; ')}`,
    'build the stage again',
  );
}

const COLUMNS: readonly PlainColumn<BoardRow>[] = [
  { title: 'Model', cell: ({ model }) => plainText(model) },
  { title: 'Estimate, ms', look: 'n', cell: ({ estimate }) => (estimate === undefined ? '–' : formatNumber(estimate.ms)) },
  {
    title: 'Likely between',
    look: 'n',
    cell: ({ estimate }) => (estimate === undefined ? '–' : `${formatNumber(estimate.lowMs)} … ${formatNumber(estimate.highMs)}`),
  },
  { title: 'Measured, ms', look: 'n', cell: ({ measuredMs }) => (measuredMs === undefined ? '–' : formatNumber(measuredMs)) },
  {
    title: 'Within',
    cell: ({ within }) =>
      within === undefined ? (
        ''
      ) : within === 'yes' ? (
        <span class="good">✓ within</span>
      ) : (
        <span class="warn">{within === 'faster' ? '▾ faster' : '▴ slower'}</span>
      ),
  },
  { title: 'NPU nodes, predicted', look: 'n', cell: ({ npuNodes }) => npuNodes },
  { title: 'NPU nodes, board', look: 'n', cell: ({ boardNpuNodes }) => boardNpuNodes ?? 'not reported' },
];
