/** The description of a model, fetched once per content. */
import type { ModelView } from '../../../onnx/describe/model-view.js';
import { address } from '../api/client.js';
import { useData } from '../api/use-data.js';
import type { ModelArtifact } from './model-artifact.js';

export function useModel(artifact: ModelArtifact | undefined) {
  return useData<ModelView>(
    artifact === undefined
      ? undefined
      : address('model', { stage: artifact.stage.id, port: artifact.port, v: artifact.digest?.slice(0, 16) }),
    'once',
  );
}
