export interface CartLine {
  sku: string;
  /** Cents. */
  price: number;
  quantity: number;
}

export class Cart {
  private readonly lines: CartLine[] = [];

  add(sku: string, price: number, quantity = 1): void {
    const line = this.lines.find((known) => known.sku === sku);
    if (line) {
      line.quantity += quantity;
    } else {
      this.lines.push({ sku, price, quantity });
    }
  }

  content(): CartLine[] {
    return this.lines.filter((line) => line.quantity > 0);
  }

  total(): number {
    return this.lines.reduce((sum, line) => sum + line.price * line.quantity, 0);
  }
}
