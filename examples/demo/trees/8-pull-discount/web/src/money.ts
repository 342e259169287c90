/** Shows an amount of cents as the customer reads it. */
export function format(cents: number, currency = "EUR"): string {
  const style = { style: "currency", currency };
  return new Intl.NumberFormat(navigator.language, style).format(cents / 100);
}

/** Reads an amount that the customer typed, in cents; NaN where it is none. */
export function parse(text: string): number {
  return Math.round(Number(text.replace(",", ".")) * 100);
}
