/** The default pipeline built on one machine, and warm on another: two network namespaces, and a server with TLS between them. */
import { describeWithServer, missing } from '../../support/remote/real-servers.js';
import { findObstacle, makeTwoMachines, type SecureServer, startSecureNginx, type TwoMachines } from '../../support/remote/two-machines.js';
import { givenShapesProject, type ShapesProject } from '../../support/shapes-project.js';

describeWithServer(missing.nginx ?? findObstacle())('two machines with a cache between them', () => {
  let machines: TwoMachines;
  let server: SecureServer | undefined;
  const projects: ShapesProject[] = [];
  beforeAll(async () => {
    machines = makeTwoMachines();
    server = await startSecureNginx(machines);
  });
  afterAll(async () => {
    for (const project of projects) project.remove();
    await server?.stop();
    machines.remove();
  });

  const on = (machine: 0 | 1): ShapesProject => {
    const project = givenShapesProject(3);
    project.place(machines.on[machine], { TANREN_CONFIG: server?.settings ?? '' });
    projects.push(project);
    return project;
  };

  it('the second restores every stage that the first has built, but those that measure', () => {
    const first = on(0).build();
    expect([first.exitCode, first.failed]).toEqual([0, []]);
    const second = on(1).build('--require-remote');
    expect([second.exitCode, second.text.includes('remote-cache-failed')]).toEqual([0, false]);
    expect([...second.executed].sort()).toEqual(['bench', 'report']);
    expect(second.restored.length).toBe(first.executed.length - 2);
  });

  it('a machine without any network has no cache, and says so', () => {
    const alone = givenShapesProject(3);
    projects.push(alone);
    alone.place(['unshare', '-n'], { TANREN_CONFIG: server?.settings ?? '' });
    const { stderr } = alone.tanren('cache', 'remote', 'ping');
    expect(stderr).toContain('remote-');
  });
});
