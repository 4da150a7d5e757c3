/** The choice of a few images from several folders. */
import { takeFromFolders } from '../../../../src/detection/data/image-list.js';

const images = ['cat/1.png', 'cat/2.png', 'cat/3.png', 'dog/1.png', 'dog/2.png', 'eel/1.png'].map((fileName, index) => ({
  id: index + 1,
  fileName,
}));

it.each([
  [3, ['cat/1.png', 'dog/1.png', 'eel/1.png']],
  [5, ['cat/1.png', 'cat/2.png', 'dog/1.png', 'dog/2.png', 'eel/1.png']],
  [undefined, images.map(({ fileName }) => fileName)],
])('%p images of folders are taken from each in turn', (count, names) => {
  expect(takeFromFolders(images, count).map(({ fileName }) => fileName)).toEqual(names);
});
