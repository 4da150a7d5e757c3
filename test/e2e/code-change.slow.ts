/** An edit of Tanren's own code reruns exactly the stages whose bytes it can change: tested on an edited copy of the installation. */
import { appendFileSync, cpSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CODE_TABLE, encodeCodeTable } from '../../src/engine/action/code/code-table.js';
import { createModuleGraph } from '../../src/engine/action/code/module-graph.js';
import { DIST, givenShapesProject, PROJECT, type ShapesProject } from '../support/shapes-project.js';

describe('an edit of the installation', () => {
  let installation: string;
  let project: ShapesProject;
  beforeAll(() => {
    installation = realpathSync(mkdtempSync(join(tmpdir(), 'tanren-install-')));
    cpSync(DIST, join(installation, 'dist'), { recursive: true });
    cpSync(join(PROJECT, 'package.json'), join(installation, 'package.json'));
    symlinkSync(realpathSync(join(PROJECT, 'node_modules')), join(installation, 'node_modules'));
    project = givenShapesProject(2, join(installation, 'dist'));
    expect(project.build().exitCode).toBe(0);
  });
  afterAll(() => {
    project.remove();
    rmSync(installation, { recursive: true, force: true });
  });

  /** Appends a statement to a module, and writes the table of code digests as the build does. */
  const edit = async (module: string): Promise<void> => {
    const dist = join(installation, 'dist');
    appendFileSync(join(dist, module), '\nvoid 0;\n');
    const modules = ['src', 'stages'].flatMap(folder =>
      readdirSync(join(dist, folder), { recursive: true, encoding: 'utf8' }).map(file => join(dist, folder, file)),
    );
    const emitted = modules.filter(file => file.endsWith('.js'));
    writeFileSync(join(dist, CODE_TABLE), encodeCodeTable(await createModuleGraph(), emitted, dist));
  };

  it('in the range code runs quantize; as its bytes stay equal, nothing after it', async () => {
    await edit('src/quant/range/range.js');
    const { executed } = project.build();
    expect(executed.filter(stage => stage.startsWith('quantize'))).toHaveLength(3);
    for (const before of ['export', 'parts', 'simplify@backbone', 'rewrite', 'evaluate-float']) expect(executed).not.toContain(before);
  });

  it('in a renderer runs nothing', async () => {
    await edit('src/cli/render/build-report.js');
    expect(project.build().executed).toEqual([]);
  });

  it('in the exporter runs export, and nothing after it if its bytes are equal', async () => {
    await edit('src/detection/families/maskrcnn/export/backbone.js');
    const { executed } = project.build();
    expect(executed).toContain('export');
    expect(executed).not.toContain('simplify@backbone');
  });
});
