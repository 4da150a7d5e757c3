/** The networks of the published latencies: their nodes are those that the vendor's and a user's logs count, and their committed work is what the compiler measures. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { evaluate } from '../../../../src/runtime/session/evaluate.js';
import { compileModel } from '../../../../src/target/compile-model.js';
import { requestFit } from '../../../../src/target/estimate/fit/device-request.js';
import { coverageOf, leaveNetworksOut, spreadOf } from '../../../../src/target/estimate/fit/leave-one-out.js';
import { readPublished } from '../../../../src/target/estimate/published/published-points.js';
import { chooseTarget, getBuiltInProfile } from '../../../../src/target/profile/choose-target.js';
import { listNetworkWork } from '../../../support/network-work.js';
import { PUBLISHED_NETWORKS } from '../../../support/published-networks.js';
import { DIST } from '../../../support/world.js';

const profile = getBuiltInProfile('ryzen-ai');

describe('the networks of published latencies', () => {
  // AMD's logs of 1.6 (nodes on NPU, CPU and VITIS_EP_CPU together), and the nodes of ryzen-ai-xdna1-quantization.
  it.each([
    ['resnet18', 166],
    ['resnet34', 294],
    ['resnet50', 395],
    ['mobilenet_v2', 349],
    ['mobilenet_v3_small', 580],
    ['efficientnet_b0', 1054],
    ['efficientnet_b1', 1505],
    ['efficientnet_b2', 1505],
    ['wide_resnet50_2', 395],
    ['wide_resnet101_2', 769],
    ['yolov8n', 929],
    ['yolov8s', 929],
    ['yolov8m', 1223],
    ['yolov8l', 1517],
    ['yolov8x', 1517],
  ])('%s has %d nodes, with a factor for each HardSigmoid', async (name, nodes) => {
    const target = chooseTarget(profile, { device: 'phx-hpt', dtype: 'xint8' });
    const make = PUBLISHED_NETWORKS[name];
    if (make === undefined) throw new Error(name);
    const { report } = await compileModel(name, make(), target, { evaluate, undocumented: 'npu', accept: 'quantized' });
    expect(report.counts.nodes + report.units.filter(({ opType }) => opType === 'HardSigmoid').length).toBe(nodes);
  });

  it('have the committed work', async () => {
    const path = join(dirname(DIST), 'src/target/estimate/published/networks.json');
    expect(JSON.parse(await listNetworkWork())).toEqual(JSON.parse(readFileSync(path, 'utf8')));
  });
});

it('a spread that is fitted without a network holds for its points in 85 % of cases', () => {
  const published = readPublished();
  const held = (['phx-hpt', 'stx-krk'] as const).flatMap(device => {
    const request = requestFit(profile, device, published);
    const all = leaveNetworksOut(request);
    return [...new Set(request.points.map(({ network }) => network))].flatMap(network => {
      const others = leaveNetworksOut({ ...request, points: request.points.filter(point => point.network !== network) });
      const factor = spreadOf(others, 0.9);
      return all.flatMap(row => (row.point.network === network ? [coverageOf([row], factor)] : []));
    });
  });
  expect(held.reduce((sum, one) => sum + one, 0) / held.length).toBeGreaterThanOrEqual(0.85);
});
