/** Models among the outputs of stages. */
import type { StageRow } from '../../../report/views/pipeline-data.js';

export interface ModelArtifact {
  readonly stage: StageRow;
  readonly port: string;
  readonly digest: string | undefined;
}

export function keyOf({ stage, port }: ModelArtifact): string {
  return `${stage.id}.${port}`;
}

export function findModels(stages: readonly StageRow[]): readonly ModelArtifact[] {
  return stages.flatMap(stage =>
    stage.outputs.flatMap(({ port, kind, digest, absent }): readonly ModelArtifact[] =>
      kind === 'onnx-model' && stage.built && absent !== true ? [{ stage, port, digest }] : [],
    ),
  );
}
