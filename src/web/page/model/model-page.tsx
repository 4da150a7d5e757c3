/** The view "Model": the graph of any ONNX artifact, alone or beside another one. */
import type { StageRow } from '../../../report/views/pipeline-data.js';
import { setQuery, usePlace } from '../api/router.js';
import { Empty, OutOfDate, Waiting } from '../parts/notice.js';
import { Select } from '../parts/select.js';
import { View } from '../parts/view.js';
import type { ViewProps } from '../parts/view-props.js';
import { findModels, keyOf, type ModelArtifact } from './model-artifact.js';
import { ModelExplorer } from './model-explorer.js';
import { useModel } from './use-model.js';

export function ModelPage({ pipeline }: ViewProps) {
  const { query } = usePlace();
  const artifacts = findModels(pipeline.stages);
  const chosen =
    artifacts.find(({ stage, port }) => stage.id === query.stage && port === query.port) ??
    artifacts.find(({ stage }) => stage.id === query.stage) ??
    artifacts[0];
  if (chosen === undefined)
    return (
      <Empty>
        {pipeline.project.access === 'saved'
          ? 'This page holds no models. Connect them to the port “models” of the report stage.'
          : 'No built stage has a model. Run the pipeline to see its graphs.'}
      </Empty>
    );
  const before = artifacts.find(one => keyOf(one) === query.before);
  const others = artifacts.filter(one => one !== chosen);
  return (
    <View
      title="Model"
      tools={
        <>
          <Select
            label="Artifact"
            value={keyOf(chosen)}
            choices={artifacts.map(keyOf)}
            pick={key => {
              const next = artifacts.find(one => keyOf(one) === key);
              setQuery({ stage: next?.stage.id, port: next?.port, node: undefined, before: undefined });
            }}
          />
          <Select
            label="Compare with"
            none="no other model"
            value={before === undefined ? '' : keyOf(before)}
            choices={sortByDistance(others, chosen).map(keyOf)}
            pick={key => setQuery({ before: key || undefined, color: key === '' ? undefined : 'change' })}
          />
          <OutOfDate stage={chosen.stage} />
        </>
      }
    >
      <LoadedModel key={`${keyOf(chosen)} ${query.before ?? ''}`} artifact={chosen} before={before} stages={pipeline.stages} />
    </View>
  );
}

/** The models that the stage reads come first: what a step changed is asked most. */
function sortByDistance(artifacts: readonly ModelArtifact[], { stage }: ModelArtifact): readonly ModelArtifact[] {
  const reads = (one: ModelArtifact): boolean => stage.inputs.some(input => input.stage === one.stage.id && input.port === one.port);
  return [...artifacts.filter(reads), ...artifacts.filter(one => !reads(one))];
}

interface LoadedProps {
  readonly artifact: ModelArtifact;
  readonly before: ModelArtifact | undefined;
  readonly stages: readonly StageRow[];
}

function LoadedModel({ artifact, before, stages }: LoadedProps) {
  const { query } = usePlace();
  const own = useModel(artifact);
  const other = useModel(before);
  if (own.data === undefined) return <Waiting error={own.error} what="the model" />;
  if (before !== undefined && other.data === undefined) return <Waiting error={other.error} what="the model to compare with" />;
  return (
    <ModelExplorer
      key={artifact.digest}
      model={own.data}
      before={before === undefined || other.data === undefined ? undefined : { artifact: before, model: other.data }}
      picked={query.node}
      artifact={artifact}
      stages={stages}
    />
  );
}
