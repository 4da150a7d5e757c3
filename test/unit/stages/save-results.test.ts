/** The ground truth of a saved page: what the page reads again. */
import type { Json } from '../../../src/base/json.js';
import { parseCocoDataset } from '../../../src/detection/coco/dataset.js';
import { datasetOf } from '../../../stages/report/views/save-results.js';

it('is read again where areas are missing or not finite', () => {
  const common = { image_id: 1, category_id: 1, bbox: [0, 0, 5, 4] };
  const root = {
    images: [{ id: 1, width: 9, height: 9, file_name: 'a.png' }],
    categories: [{ id: 1, name: 'thing' }],
    annotations: [
      { ...common, id: 1, iscrowd: 1 },
      { ...common, id: 2, iscrowd: 0, area: Number.NaN },
      { ...common, id: 3, iscrowd: 0, area: Number.POSITIVE_INFINITY },
      { ...common, id: 4, iscrowd: 0, area: 7 },
    ],
  };
  const saved = JSON.parse(JSON.stringify(datasetOf(parseCocoDataset(root)))) as Json;
  expect(parseCocoDataset(saved).annotations.map(({ area }) => area)).toEqual([undefined, 20, Number.MAX_VALUE, 7]);
});
