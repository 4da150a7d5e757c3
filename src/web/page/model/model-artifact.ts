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
