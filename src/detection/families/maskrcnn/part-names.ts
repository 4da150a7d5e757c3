/** Names of the parts of Mask R-CNN, and of the CPU subgraphs around them. */

export const MASKRCNN_PARTS = ['backbone', 'box_head', 'mask_head'] as const;
export type MaskRcnnPart = (typeof MASKRCNN_PARTS)[number];

/** Subgraphs of a whole detector between and after its parts: sorting, suppression, pooling and mask pasting. They run on a CPU. */
export const CPU_SUBGRAPHS = ['to_box', 'to_mask', 'rest'] as const;
export type CpuSubgraph = (typeof CPU_SUBGRAPHS)[number];

/** Parts and CPU subgraphs in the order in which they run. Each reads only what earlier ones give. */
export const MASKRCNN_SUBGRAPHS = ['backbone', 'to_box', 'box_head', 'to_mask', 'mask_head', 'rest'] as const;
