/** Lays out graphs in a worker, so that the page stays responsive. Ending the worker cancels its layout. */
import { layOutWithDagre } from './dagre-layout.js';
import type { GraphOrder } from './graph-types.js';
import { layOutLayers } from './layer-layout.js';

/** Larger graphs take dagre minutes, and long chains exceed its recursion. */
const MOST_DAGRE = 400;

addEventListener('message', (event: MessageEvent<GraphOrder>) => {
  const { nodes } = event.data;
  postMessage(nodes.length > MOST_DAGRE ? layOutLayers(event.data) : layOutWithDagre(event.data));
});
