/** The list of a classifier's images that the view "Results" exports. */
import { joinPredictions, listPredictions } from '../../../src/web/page/results/class-results.js';

it('has a line per image with the best class of each side, and no text that a spreadsheet would compute', () => {
  const one = (file: string, label: number, classes: readonly number[], scores: readonly number[]) => ({ file, label, classes, scores });
  const images = joinPredictions(
    [one('=a,b.png', 1, [1, 2], [0.75, 0.25]), one('c.png', 0, [2], [0.5])],
    [one('=a,b.png', 1, [2, 1], [0.5, 0.25]), one('c.png', 0, [], [])],
  );
  expect(listPredictions(images).split('\r\n')).toEqual([
    'file,label,kind,left class,left score,right class,right score',
    `"'=a,b.png",1,lost,1,0.75,2,0.5`,
    'c.png,0,changed,2,0.5,,',
    '',
  ]);
});
