export interface CartLine {
  name: string;
  /** Cents. */
  price: number;
  quantity: number;
}

export class Cart {
  private readonly lines: CartLine[] = [];

  add(name: string, price: number): void {
    this.lines.push({ name, price, quantity: 1 });
  }

  total(): number {
    return this.lines.reduce((sum, line) => sum + line.price * line.quantity, 0);
  }
}
