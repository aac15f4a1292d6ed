const PLACEMENT = /^[a-z][a-z _-]*$/;
const NUMBER = /^\d+$/;

/** Whether two names, of one truck, are the same but for letter case and blanks around them. */
export const isSameCamera = (one: string, other: string): boolean => plain(one) === plain(other);

/** Whether one is a placement and the other a number: these may be two names of one camera (2.5a), and may be not. */
export function mayBeSameCamera(one: string, other: string): boolean {
  const [a, b] = [plain(one), plain(other)];
  return (NUMBER.test(a) && PLACEMENT.test(b)) || (NUMBER.test(b) && PLACEMENT.test(a));
}

const plain = (name: string): string => name.trim().toLowerCase();
