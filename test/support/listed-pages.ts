import type { DtoClass } from '../../src/contracts/common/fields/field.js';
import { isJsonObject } from '../../src/contracts/common/json.js';
import type { Recording } from '../../src/contracts/vision/vision.api.js';
import { ELEMENT_LISTS, type ListedPage, ListReader } from '../../src/vision/client/read-list.rules.js';

/** A page with its elements, of a body in memory. */
export function readList<T extends Recording>(
  type: DtoClass<T>,
  body: unknown,
  customerId: string,
): ListedPage & { readonly items: T[] } {
  const reader = new ListReader(type, customerId);
  const items: T[] = [];
  const [whole, ...names] = ELEMENT_LISTS.map((path) => path.split('.').at(-1) ?? '');
  const data = isJsonObject(body) && isJsonObject(body['data']) ? body['data'] : {};
  const lists = [[whole, isJsonObject(body) ? body['data'] : []], ...names.map((name) => [`data.${name}`, data[name]])];
  for (const [list, elements] of lists) {
    if (!Array.isArray(elements)) continue;
    for (const [index, value] of elements.entries()) {
      const item = reader.read({ list: String(list), index, value, text: JSON.stringify(value) });
      if (item !== undefined) items.push(item);
    }
  }
  return { items, ...reader.end(body) };
}
