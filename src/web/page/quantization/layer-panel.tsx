/** One value: its histogram with range, clipping and grid of the integers, and its numbers. */

import { readModelSketches } from '../../../quant/calibration/model-sketches.js';
import { formatDb, formatNumber, formatShare } from '../../../report/numbers.js';
import type { StageRow } from '../../../report/views/pipeline-data.js';
import { address } from '../api/client.js';
import { useData } from '../api/use-data.js';
import { EditPanel } from '../edits/edit-panel.js';
import { Link } from '../parts/link.js';
import { Empty, Failed } from '../parts/notice.js';
import { Panel } from '../parts/panel.js';
import { plainText } from '../parts/text.js';
import { Histogram } from './histogram.js';
import { findHistograms } from './histograms.js';
import { COST_BASIS, type Layer } from './layers.js';

interface PanelProps {
  readonly layer: Layer;
  readonly stage: StageRow;
  readonly canEdit: boolean;
  readonly close: () => void;
}

export function LayerPanel({ layer, stage, canEdit, close }: PanelProps) {
  const { name, opType, node, own, propagated, maxAbs, cost, activation } = layer;
  const model = stage.inputs.find(input => input.name === 'model');
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Own SQNR', own === undefined ? undefined : `${formatDb(own)} dB`],
    ['Propagated SQNR', propagated === undefined ? undefined : `${formatDb(propagated)} dB`],
    ['Largest difference', maxAbs === undefined ? undefined : formatNumber(maxAbs)],
    ['Share in the outputs’ error', cost === undefined ? undefined : `${formatShare(cost.share)}, ${COST_BASIS[cost.basis]}`],
    ['Saturated', activation?.saturationShare === undefined ? undefined : formatShare(activation.saturationShare)],
    ['Data', activation?.dataRange === undefined ? undefined : activation.dataRange.map(formatNumber).join(' … ')],
    ['Range', activation?.range.map(formatNumber).join(' … ')],
    ['Method', activation?.method],
    ['Type', activation?.dtype],
    ['Scale', activation === undefined ? undefined : formatNumber(activation.scale)],
    ['Zero point', activation === undefined ? undefined : String(activation.zeroPoint)],
    ['Takes the scale of', activation?.sharedWith],
  ];
  return (
    <Panel what="value" name={name} title={plainText(name)} close={close}>
      <p class="soft">
        {opType} {node !== '' && node !== name && <code>{plainText(node)}</code>}{' '}
        {model?.stage !== undefined && (
          <Link view="model" query={{ stage: model.stage, port: model.port, node: node === '' ? undefined : node }}>
            in the model
          </Link>
        )}{' '}
        <Link view="tensor" query={{ stage: model?.stage, port: model?.port, against: `${stage.id}.model`, value: name }}>
          its values
        </Link>
      </p>
      <ValueHistogram layer={layer} stage={stage} />
      <dl class="facts">{facts.map(([term, fact]) => fact !== undefined && <Fact key={term} term={term} fact={fact} />)}</dl>
      {cost !== undefined && (
        <p class="soft">
          Less error by <code>{plainText(cost.setting)}</code> in “quantize”.
        </p>
      )}
      {canEdit && <EditPanel stage={stage.id} value={name} dtype={activation?.dtype} range={activation?.range} />}
    </Panel>
  );
}

function Fact({ term, fact }: { readonly term: string; readonly fact: string }) {
  return (
    <div>
      <dt>{term}</dt>
      <dd>{plainText(fact)}</dd>
    </div>
  );
}

/** The sketches that the stage was given: those of the calibration. */
function ValueHistogram({ layer, stage }: { readonly layer: Layer; readonly stage: StageRow }) {
  const hasSketches = stage.inputs.some(({ name }) => name === 'sketches');
  const at = hasSketches ? address('input', { stage: stage.id, name: 'sketches' }) : undefined;
  const { data, error } = useData(at, 'once', readModelSketches);
  if (!hasSketches) return <Empty>The stage has no sketches, so there is no histogram.</Empty>;
  if (error !== undefined) return <Failed error={error} />;
  if (data === undefined) return <Empty>Loading the histogram …</Empty>;
  const histograms = findHistograms(data, layer.name);
  if (histograms.length === 0) return <Empty>Calibration saw no elements of this value, or it has another name in the sketches.</Empty>;
  return <Histogram histograms={histograms} activation={layer.activation} />;
}
