/** The outputs of a stage, with their digests and the views that show them. */
import { formatBytes } from '../../../base/text/format.js';
import type { PipelineView, StageRow } from '../../../report/views/pipeline-data.js';
import type { StageView } from '../../../report/views/stage-data.js';
import type { Query } from '../api/router.js';
import { findModels, keyOf } from '../model/model-artifact.js';
import { CopyButton } from '../parts/copy-button.js';
import { Link } from '../parts/link.js';
import { plainText } from '../parts/text.js';
import { Digest } from './digest.js';

interface OutputsProps {
  readonly stage: Pick<StageView, 'id' | 'plugin' | 'outputs'>;
  readonly pipeline: PipelineView;
}

export function StageOutputs({ stage, pipeline }: OutputsProps) {
  return (
    <ul class="outputs">
      {stage.outputs.map(({ port, kind, path, sizeBytes, digest }) => (
        <li key={port}>
          <code>{plainText(path)}</code> <CopyButton text={path} what={`the path of ${port}`} />{' '}
          <span class="soft">
            {kind}
            {sizeBytes === undefined ? ', not built' : `, ${formatBytes(sizeBytes)}`}
            {digest !== undefined && (
              <>
                , <Digest digest={digest} what={`the digest of ${port}`} />
              </>
            )}
          </span>
          {listViews(stage, port, kind, pipeline.stages).map(({ view, query, words }) => (
            <span key={words}>
              {' '}
              <Link view={view} query={query}>
                {words}
              </Link>
            </span>
          ))}
        </li>
      ))}
    </ul>
  );
}

interface ViewOf {
  readonly view: string;
  readonly query: Query;
  readonly words: string;
}

/** Views of reports, by the plugin that writes them. */
const REPORT_VIEWS: Readonly<Record<string, readonly [view: string, words: string]>> = {
  quantize: ['quantization', 'ranges and errors'],
  compile: ['compile', 'where it runs'],
  report: ['report', 'report'],
};

/** Nothing for outputs that are not built. */
function listViews({ id, plugin }: OutputsProps['stage'], port: string, kind: string, stages: readonly StageRow[]): readonly ViewOf[] {
  const row = stages.find(one => one.id === id);
  if (row?.built !== true || row.outputs.some(one => one.port === port && one.absent === true)) return [];
  if (kind === 'onnx-model') {
    const before = findModels(stages).find(model =>
      row.inputs.some(({ stage, port: from }) => stage === model.stage.id && from === model.port),
    );
    return [
      { view: 'model', query: { stage: id, port }, words: 'graph' },
      ...(before === undefined
        ? []
        : [
            {
              view: 'model',
              query: { stage: id, port, before: keyOf(before), color: 'change' },
              words: `what changed from ${keyOf(before)}`,
            },
          ]),
    ];
  }
  if (kind === 'detections') return [{ view: 'results', query: { right: id }, words: 'images' }];
  const [view, words] = (port === 'report' ? REPORT_VIEWS[plugin] : undefined) ?? [];
  return view === undefined || words === undefined ? [] : [{ view, query: { stage: id }, words }];
}
