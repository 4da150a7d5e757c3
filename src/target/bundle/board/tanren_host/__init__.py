"""The steps of a detector that run on the host: images, boxes, pooling, masks, results. Needs numpy."""
