/**
 * Where an item that came to the till is. `moved`: the operator recorded that it left. `departed`: it left by a Steam
 * trade. `back`: its shopper took the item back.
 */
export type ItemState = 'protected' | 'held' | 'departed' | 'moved' | 'back'
