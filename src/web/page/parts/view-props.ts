/** What every view gets. */
import type { PipelineView } from '../../../report/views/pipeline-data.js';

export interface ViewProps {
  readonly pipeline: PipelineView;
}
