import { type ReactNode, startTransition, useLayoutEffect, useState } from 'react'
import { changesOfParts, PartsSeen, subscribeToParts } from './part.ts'

/**
 * Tells the components below that a part has loaded. React renders them in slices, so a press does not have to wait. All
 * components learn of it in the same render, because the part `stand` (the items) needs the texts of the part `rest`.
 */
export function PartsProvider({ children }: { children: ReactNode }) {
  const [seen, setSeen] = useState(changesOfParts)
  useLayoutEffect(() => {
    const follow = (): void => startTransition(() => setSeen(changesOfParts()))
    follow()
    return subscribeToParts(follow)
  }, [])
  return <PartsSeen value={seen}>{children}</PartsSeen>
}
