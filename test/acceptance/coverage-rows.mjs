/**
 * The rows of the interface document (sections 2 to 9) and the numbers of the decisions. A title of a test names the rows that
 * it shows: `(section 2.2 siteId)`, `(section 7 400 Scale; decisions 10, 11)`. `COVERAGE.md` is made from the titles.
 */
const account = ['accountId', 'accountNumber', 'accountName', 'billingAddress', 'primaryContact'];
const pagination = ['page', 'pageSize', 'totalItems', 'totalPages'];

export const SECTIONS = {
  2.1: ['success', 'error', 'error.code', 'error.message', 'error.details'],
  2.2: [
    ...['siteId', 'materials', 'inboundFlow', 'outboundFlow', 'customFields'],
    ...['id', 'name', 'quantity', 'unitPriceCents', 'unitOfMeasure'].map((field) => `MaterialItem ${field}`),
    ...['ticketNumber', 'updatedAt'].map((field) => `FlowData ${field}`),
  ],
  2.3: ['success', 'disposalTicketId'],
  2.4: [
    'accountName',
    'billingAddress',
    ...['street', 'unit', 'city', 'state', 'country', 'zip'].map((field) => `billingAddress.${field}`),
    'primaryContact',
    ...['firstName', 'lastName', 'email', 'phone'].map((field) => `primaryContact.${field}`),
  ],
  '2.4a': [
    ...['success', 'data', 'data.sites', 'data.kiosks', 'data.materials'],
    ...['id', 'name', 'address', 'active', 'updatedAt'].map((field) => `Site ${field}`),
    ...['line1', 'city', 'state', 'country', 'zipCode'].map((field) => `Address ${field}`),
    ...['id', 'siteId', 'name', 'active', 'updatedAt'].map((field) => `Kiosk ${field}`),
    ...['id', 'siteId', 'kioskId', 'materialType', 'measureUnit', 'active', 'updatedAt'].map(
      (field) => `Material ${field}`,
    ),
    'links',
  ],
  2.5: account,
  '2.5a': [
    ...['customerId', 'truckId', 'cameraId', 'startTime', 'endTime'],
    ...['success', 'requestId', 'status', 'message'].map((field) => `answer ${field}`),
  ],
  2.6: [
    ...['success', 'data', 'data.recordings'],
    ...['id', 'customerId', 'truckId', 'cameraId', 'startTime', 'endTime', 'durationSeconds', 'downloadUrl'].map(
      (field) => `recording ${field}`,
    ),
    'recording expiresAt',
    ...pagination.map((field) => `pagination ${field}`),
    'list element of 4.5',
  ],
  3: ['processing'],
  4.1: ['200', '400', '401', '422', '500', 'created or updated'],
  4.2: ['200', '400', '401', '409'],
  4.3: ['haulerId', '200', '400', '401', '404', '500'],
  4.4: ['202', '400', '401', '404', '500'],
  4.5: [
    ...['customerId', 'truckId', 'cameraId', 'requestId', 'startTime', 'endTime', 'page', 'pageSize'],
    ...['200', '400', '401', '404', '500'],
  ],
  4.6: [
    ...['customerId', 'truckId', 'cameraId', 'startTime', 'endTime', 'page', 'pageSize'],
    ...['200', '400', '401', '404', '500'],
  ],
  5: ['Scale', 'Account', 'Site', 'Vision', 'rule 1', 'rule 2'],
  7: [
    ...['400 Scale', '400 Site', '400 Vision', '401 all', '404 Site', '404 Vision', '422 Scale', '500 all'],
    ...['codes of Scale', 'codes of Site', 'codes of Vision', 'statuses of Account'],
  ],
  8: [
    ...['pageSize default', 'pageSize maximum', 'page default', 'materials array size', 'accountName length'],
    ...['Account field lengths', 'Site and kiosk name length', 'Address and material type lengths', 'expiresAt'],
  ],
  9: ['Scale', 'Account', 'Site', 'Vision'],
};

export const DECISIONS = Array.from({ length: 73 }, (_, n) => String(n + 1));

/** All rows, as `COVERAGE.md` names them. */
export const ROWS = [
  ...Object.entries(SECTIONS)
    .sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
    .flatMap(([section, rows]) => rows.map((row) => `section ${section} ${row}`)),
  ...DECISIONS.map((number) => `decision ${number}`),
];

/** The rows that a title names, in parentheses. */
export function rowsOf(title) {
  return [...title.matchAll(/\(([^()]*\b(?:sections?|decisions?) [^()]*)\)/g)].flatMap(([, text]) =>
    text.split(/;\s*/).flatMap((part) => {
      const [, numbers] = /^decisions? ([\d, and]+)$/.exec(part) ?? [];
      if (numbers !== undefined) return numbers.split(/\D+/).flatMap((n) => (n === '' ? [] : [`decision ${n}`]));
      // The issue that builds what a case of `test.failing` promises.
      if (/^issue \d+$/.test(part)) return [];
      const [, section, rows] = /^section (\S+) (.+)$/.exec(part) ?? [];
      return rows === undefined ? [part] : rows.split(/,\s*/).map((row) => `section ${section} ${row}`);
    }),
  );
}
