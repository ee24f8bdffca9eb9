import { type ReactNode, startTransition, useLayoutEffect, useState } from 'react'
import { changesOfParts, PartsSeen, subscribeToParts } from './part.ts'

/**
 * Lets the components below see code arrive. They render it in slices, so a press does not have to wait. All see it in
 * the same render, because the items need the texts of the rest.
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
