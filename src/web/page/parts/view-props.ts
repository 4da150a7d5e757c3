/** What every view gets. */
import type { PipelineView } from '../../views/pipeline-view.js';

export interface ViewProps {
  readonly pipeline: PipelineView;
}
