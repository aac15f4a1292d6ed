/**
 * Whether a material names neither of the two that may take it (section 2.4a); `null` counts as absent. What is there and
 * malformed is a fault of its own.
 */
export const isWithoutParent = ({
  siteId,
  kioskId,
}: {
  readonly siteId?: unknown;
  readonly kioskId?: unknown;
}): boolean => siteId == null && kioskId == null;
