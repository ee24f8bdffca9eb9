/**
 * Where an item that came to the till is. `protected`: a bot has it, and its shopper can still take it back. `held`: a
 * bot has it, and its shopper can no longer take it back. `moved`: the operator recorded that it left. `departed`: it
 * left by a Steam trade. `back`: its shopper took the item back.
 */
export type ItemState = 'protected' | 'held' | 'departed' | 'moved' | 'back'
