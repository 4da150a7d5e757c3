/** The list of a classifier's images that the view "Results" exports, and the names of its classes. */
import { joinPredictions, listPredictions, nameClasses } from '../../../src/web/page/results/class-results.js';

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

describe('names of classes', () => {
  const namesOf = (...images: readonly (readonly [file: string, label: number])[]) =>
    [...nameClasses(images.map(([file, label]) => ({ file, label })))].sort(([a], [b]) => a - b);

  it('are the folders that hold the images of one class each', () => {
    expect(namesOf(['cat/1.jpg', 1], ['val/bird/a.jpg', 0], ['cat/2.jpg', 1])).toEqual([
      [0, 'val/bird'],
      [1, 'cat'],
    ]);
  });

  it.each([
    ['images lie in no folder', [['1.jpg', 0]]],
    [
      'a folder holds two classes',
      [
        ['a/1.jpg', 0],
        ['a/2.jpg', 1],
      ],
    ],
    [
      'a class has two folders',
      [
        ['a/1.jpg', 0],
        ['b/2.jpg', 0],
      ],
    ],
  ] as const)('are absent where %s', (_, images) => expect(namesOf(...images)).toEqual([]));
});
