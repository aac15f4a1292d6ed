/**
 * Whether a material has neither a site nor a kiosk (section 2.4a); `null` counts as absent. A malformed id counts as
 * present, because it is reported on its own.
 */
export const isWithoutParent = ({
  siteId,
  kioskId,
}: {
  readonly siteId?: unknown;
  readonly kioskId?: unknown;
}): boolean => siteId == null && kioskId == null;
