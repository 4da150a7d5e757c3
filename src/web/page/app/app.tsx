/** The frame of all views: navigation, the state of the connection and of the running build, and the view itself. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { PipelineView } from '../../../report/views/pipeline-data.js';
import { access } from '../api/access.js';
import { connection } from '../api/live.js';
import { usePlace } from '../api/router.js';
import { useStore } from '../api/store.js';
import { useData } from '../api/use-data.js';
import { BuildBar } from '../builds/build-bar.js';
import { Link } from '../parts/link.js';
import { Empty, Waiting } from '../parts/notice.js';
import type { ViewProps } from '../parts/view-props.js';
import { SchemeButton } from './scheme-button.js';
import { Shortcuts } from './shortcuts.js';

interface ViewEntry {
  readonly name: string;
  readonly title: string;
  readonly load: () => Promise<ComponentType<ViewProps>>;
}

/** Each view is loaded when it is opened first. */
const VIEWS: readonly ViewEntry[] = [
  { name: 'report', title: 'Report', load: async () => (await import('../report/report-page.js')).ReportPage },
  { name: 'pipeline', title: 'Pipeline', load: async () => (await import('../pipeline/pipeline-page.js')).PipelinePage },
  { name: 'runs', title: 'Runs', load: async () => (await import('../runs/runs-page.js')).RunsPage },
  { name: 'results', title: 'Results', load: async () => (await import('../results/results-page.js')).ResultsPage },
  {
    name: 'quantization',
    title: 'Quantization',
    load: async () => (await import('../quantization/quantization-page.js')).QuantizationPage,
  },
  {
    name: 'compile',
    title: 'Compile',
    load: async () => (await import('../compile/compile-page.js')).CompilePage,
  },
  {
    name: 'tensor',
    title: 'Tensor',
    load: async () => (await import('../tensor/tensor-page.js')).TensorPage,
  },
  { name: 'model', title: 'Model', load: async () => (await import('../model/model-page.js')).ModelPage },
];

export function App() {
  const { view } = usePlace();
  const { data, error } = useData<PipelineView>('pipeline');
  const entry = VIEWS.find(({ name }) => name === view);
  useEffect(() => {
    if (data !== undefined) access.set(data.project.access);
  }, [data?.project.access]);
  // Beside the data of the project, and not after it.
  useEffect(() => void entry?.load().catch(() => undefined), [entry]);
  useEffect(() => {
    document.title = [entry?.title, data?.project.file, 'Tanren'].filter(text => text !== undefined).join(' · ');
  }, [entry, data]);
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <header class="top">
        <div class="brand">
          <b>Tanren</b>
          {data !== undefined && <span title={data.project.folder}>{data.project.file}</span>}
          {data?.project.access === 'read-only' && <span class="badge mute">read-only</span>}
          {data?.project.access === 'saved' && <span class="badge mute">saved page</span>}
        </div>
        <nav aria-label="Views">
          {VIEWS.map(({ name, title }) => (
            <Link key={name} view={name} current={name === view}>
              {title}
            </Link>
          ))}
        </nav>
        <Shortcuts views={VIEWS} />
        <SchemeButton />
      </header>
      <ConnectionNotice />
      {data !== undefined && data.project.access !== 'saved' && <BuildBar pipeline={data} />}
      <main id="main" tabIndex={-1}>
        {entry === undefined ? (
          <Empty>There is no view “{view}”. The views are in the navigation above.</Empty>
        ) : data === undefined ? (
          <Waiting error={error} what="the project" />
        ) : isBroken(data) && entry.name !== 'pipeline' ? (
          <Empty>
            The pipeline file has errors, so that its stages are not known. <Link view="pipeline">Pipeline</Link> lists them.
          </Empty>
        ) : (
          <LoadedView key={entry.name} entry={entry} pipeline={data} />
        )}
      </main>
    </>
  );
}

function isBroken({ stages, problems }: PipelineView): boolean {
  return stages.length === 0 && problems.some(({ severity }) => severity === 'error');
}

function LoadedView({ entry, pipeline }: { readonly entry: ViewEntry; readonly pipeline: PipelineView }) {
  const [View, setView] = useState<ComponentType<ViewProps> | 'missing'>();
  useEffect(() => {
    let isWanted = true;
    entry.load().then(
      loaded => isWanted && setView(() => loaded),
      () => isWanted && setView('missing'),
    );
    return () => {
      isWanted = false;
    };
  }, [entry]);
  if (View === undefined) return <Empty>Loading the view …</Empty>;
  if (View === 'missing') return <Empty>The view cannot be loaded. If Tanren was updated, reload the page.</Empty>;
  return <View pipeline={pipeline} />;
}

function ConnectionNotice() {
  const state = useStore(connection);
  if (state === 'connected' || state === 'connecting') return null;
  return (
    <p class="strip warn" role="status">
      {state === 'refused'
        ? 'The token in this address is not valid any more. Open the address that “tanren ui” prints.'
        : 'The server does not answer. What is shown may be out of date; the page connects again by itself.'}
    </p>
  );
}
