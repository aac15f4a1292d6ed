/** Characters of an id of a partner (decision 38): of a recording, a request, a truck, a camera, a customer. */
export const MAX_PARTNER_ID = 4_000;
