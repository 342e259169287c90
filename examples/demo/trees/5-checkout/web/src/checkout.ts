import type { Cart } from "./cart";
import { post } from "./client";
import { flags } from "./flags";
import { format } from "./format";

export interface Address {
  name: string;
  street: string;
  city: string;
  postcode: string;
}

/** What is wrong with the address, one sentence a field. */
export function problems(address: Address): string[] {
  return Object.entries(address)
    .filter(([, value]) => value.trim() === "")
    .map(([field]) => `${field} is missing`);
}

/** Sends the order, and tells the customer what came of it. */
export async function checkout(cart: Cart, address: Address, show: (text: string) => void): Promise<void> {
  if (flags.addressCheck) {
    const found = problems(address);
    if (found.length > 0) {
      show(found.join(", "));
      return;
    }
  }
  await post("/orders", { lines: cart.content(), address });
  show(`Thank you. ${format(cart.total())} are due.`);
}
