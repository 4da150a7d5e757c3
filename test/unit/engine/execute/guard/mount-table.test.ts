/** The mount table of Linux: parsed and escaped. */
import { escapeField, parseMountTable } from '../../../../../src/engine/execute/guard/mount-table.js';

const TABLE = `22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
23 22 0:21 / /opt/with\\040space rw,nosuid,noexec,relatime - tmpfs tmpfs rw
24 22 0:22 / /home rw,nodev - ext4 /dev/vdb rw
25 24 0:23 / /home rw,nosuid - ext4 /dev/vdc rw
`;

describe('the mount table', () => {
  const table = parseMountTable(TABLE);

  it('gives the options of the mount of a path, the last one if several cover each other', () => {
    expect(table.lockedOptions('/usr')).toEqual([]);
    expect(table.lockedOptions('/home/me')).toEqual(['nosuid']);
    expect(table.lockedOptions('/opt/with space')).toEqual(['nosuid', 'noexec']);
    expect(table.lockedOptions('/opt/with space/below')).toEqual(['nosuid', 'noexec']);
  });

  it('lists the mounts below a folder', () => {
    expect(table.below('/opt')).toEqual(['/opt/with space']);
    expect(table.below('/usr')).toEqual([]);
  });
});

it('escaped fields hold any path', () => {
  expect(escapeField('/a b\t#\\\nc')).toBe('/a\\040b\\011\\043\\134\\012c');
});
