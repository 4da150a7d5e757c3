/** The view "Tensor": a value of a model on a captured sample or an image, as a picture per channel, beside its counterpart in another model. */
import { useMemo } from 'preact/hooks';
import { formatDb, formatNumber } from '../../../report/numbers.js';
import type { StageRow } from '../../../report/views/pipeline-data.js';
import type { TensorView } from '../../model/tensor-view.js';
import { address } from '../api/client.js';
import { setQuery, usePlace } from '../api/router.js';
import { useData } from '../api/use-data.js';
import { findModels, keyOf, type ModelArtifact } from '../model/model-artifact.js';
import { useModel } from '../model/use-model.js';
import { Link } from '../parts/link.js';
import { Empty, OutOfDate, Waiting } from '../parts/notice.js';
import { Select } from '../parts/select.js';
import { plainText } from '../parts/text.js';
import type { ViewProps } from '../parts/view-props.js';
import { TensorPictures } from './tensor-pictures.js';
import { ValueField } from './value-field.js';

/** Plugins whose images models can be given. */
const EVALUATORS: readonly string[] = ['evaluate', 'evaluate-classes'];

export function TensorPage({ pipeline }: ViewProps) {
  const { query } = usePlace();
  const models = findModels(pipeline.stages);
  const captures = pipeline.stages.filter(({ plugin, built, cached }) => plugin === 'capture' && built && cached !== true);
  const onlyCached = pipeline.stages.find(({ plugin, cached }) => plugin === 'capture' && cached === true);
  const ofImage =
    query.image === undefined ? undefined : pipeline.stages.find(({ id, plugin }) => EVALUATORS.includes(plugin) && id === query.of);
  const chosen =
    models.find(one => one.stage.id === query.stage && (query.port === undefined || one.port === query.port)) ??
    (ofImage === undefined ? undefined : findPart(ofImage, models)) ??
    models.find(({ stage }) => stage.plugin === 'quantize') ??
    models[0];
  const capture = captures.find(({ id }) => id === query.captured) ?? captures[0];
  if (chosen === undefined) return <Empty>No built stage has a model, so there are no values to compute.</Empty>;
  if (ofImage === undefined && capture === undefined && onlyCached !== undefined)
    return (
      <Empty>
        Values are computed on samples under artifacts/, and only the cache has those of {plainText(onlyCached.id)}: build the stage, which
        restores them.
      </Empty>
    );
  const fed = feedOf(ofImage, query.image, capture);
  if (fed === undefined)
    return <Empty>Values are computed on samples that a “capture” stage has captured, and no such stage is built.</Empty>;
  const other = query.against === 'none' ? undefined : (models.find(one => keyOf(one) === query.against) ?? inputModel(chosen, models));
  return (
    <div class="view">
      <div class="tools">
        <h1>Tensor</h1>
        <Select
          label="Model"
          value={keyOf(chosen)}
          choices={models.map(keyOf)}
          pick={key => {
            const next = models.find(one => keyOf(one) === key);
            setQuery({ stage: next?.stage.id, port: next?.port, against: undefined, channel: undefined });
          }}
        />
        <Select
          label="Beside"
          none="no other model"
          value={other === undefined ? '' : keyOf(other)}
          choices={models.filter(one => one !== chosen).map(keyOf)}
          pick={key => setQuery({ against: key || 'none' })}
        />
        <OutOfDate stage={chosen.stage} />
      </div>
      <ChosenModel key={keyOf(chosen)} model={chosen} other={other} fed={fed} />
    </div>
  );
}

/** The model that the stage was given. */
function inputModel({ stage }: ModelArtifact, models: readonly ModelArtifact[]): ModelArtifact | undefined {
  return models.find(one => stage.inputs.some(input => input.stage === one.stage.id && input.port === one.port));
}

/** What the model is fed with. */
type Fed =
  | { readonly kind: 'captured'; readonly stage: StageRow }
  /** An image of the data set of a stage that evaluates. */
  | { readonly kind: 'image'; readonly stage: StageRow; readonly image: string };

function feedOf(ofImage: StageRow | undefined, image: string | undefined, capture: StageRow | undefined): Fed | undefined {
  if (ofImage !== undefined && image !== undefined) return { kind: 'image', stage: ofImage, image };
  return capture === undefined ? undefined : { kind: 'captured', stage: capture };
}

/** The classifier, or the first part of the detector: it takes the image. */
function findPart({ inputs }: StageRow, models: readonly ModelArtifact[]): ModelArtifact | undefined {
  const part = inputs.find(({ name }) => name === 'model' || name.startsWith('parts.'));
  return models.find(({ stage, port }) => stage.id === part?.stage && port === part.port);
}

interface ModelProps {
  readonly model: ModelArtifact;
  readonly other: ModelArtifact | undefined;
  readonly fed: Fed;
}

function ChosenModel({ model, other, fed }: ModelProps) {
  const { query } = usePlace();
  const { data, error } = useModel(model);
  const values = useMemo(
    () => (data === undefined ? [] : data.nodes.flatMap(({ outputs }) => outputs.flatMap(name => name ?? []))),
    [data],
  );
  if (data === undefined) return <Waiting error={error} what="the model" />;
  const value = query.value ?? data.outputs[0] ?? values[0];
  if (value === undefined) return <Empty>The model computes no values.</Empty>;
  return (
    <>
      <div class="tools">
        <ValueField values={[...data.inputs, ...values]} value={value} />
      </div>
      <ChosenValue model={model} other={other} fed={fed} value={value} />
    </>
  );
}

function ChosenValue({ model, other, fed, value }: ModelProps & { readonly value: string }) {
  const { query } = usePlace();
  const at = address('tensor', {
    stage: model.stage.id,
    port: model.port,
    value,
    ...(fed.kind === 'image' ? { of: fed.stage.id, image: fed.image } : { captured: fed.stage.id, sample: query.sample }),
    'other-stage': other?.stage.id,
    'other-port': other?.port,
    v: [model, other, fed.stage.outputs[0]].map(one => one?.digest?.slice(0, 12) ?? '').join('-'),
  });
  const { data, error } = useData<TensorView>(at, 'once');
  if (data === undefined) return <Waiting error={error} what={`the values of ${plainText(value)}`} />;
  return (
    <>
      <div class="tools">
        {fed.kind === 'captured' ? (
          <Select
            label="Sample"
            value={query.sample ?? '0'}
            choices={data.samples.map((id, index) => [String(index), plainText(id)] as const)}
            pick={index => setQuery({ sample: index }, 'replace')}
          />
        ) : (
          <span>
            Image <b>{plainText(fed.image)}</b> of {fed.stage.id}{' '}
            <Link view="results" query={{ right: fed.stage.id, ...(fed.stage.plugin === 'evaluate' ? {} : { image: fed.image }) }}>
              {fed.stage.plugin === 'evaluate' ? 'its detections' : 'its predictions'}
            </Link>{' '}
            <button type="button" class="as-link" onClick={() => setQuery({ image: undefined, of: undefined })}>
              captured samples
            </button>
          </span>
        )}
        <span class="soft">
          [{data.dims.join(', ')}]
          {data.other !== undefined && (
            <>
              ; beside <code>{plainText(data.other.value)}</code>: SQNR{' '}
              {data.other.figures.sqnrDb === 'equal' ? 'equal' : `${formatDb(Number(data.other.figures.sqnrDb))} dB`}, largest difference{' '}
              {formatNumber(data.other.figures.maxAbs)}, cosine {formatNumber(data.other.figures.cosine)}
            </>
          )}
        </span>
      </div>
      {data.missing !== undefined && <Empty>{plainText(data.missing)}</Empty>}
      <TensorPictures key={at} view={data} names={[keyOf(model), other === undefined ? '' : keyOf(other)]} />
    </>
  );
}
