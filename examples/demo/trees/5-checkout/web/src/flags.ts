/** What is switched on; an operator edits this. */
export const flags = {
  addressCheck: false,
};
