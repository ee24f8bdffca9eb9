import { useEffect, useState } from 'react'
import type { Inventory } from '../../contract/widget-api.ts'
import { useStandTexts } from './texts.ts'

const TICK_MS = 5_000

/** Answers younger than this show no age. */
const OLD_MINUTES = 2

/** The age of Steam's answer, once it matters. It grows while the page is open. */
export function Age({ inventory }: { inventory: Inventory }) {
  const { texts } = useStandTexts()
  const [seconds, setSeconds] = useState(inventory.ageSeconds)
  // The whole inventory is the dependency, because a new answer can have the same age.
  useEffect(() => {
    const beganMs = performance.now()
    const update = () => setSeconds(inventory.ageSeconds + Math.floor((performance.now() - beganMs) / 1000))
    update()
    const timer = setInterval(update, TICK_MS)
    return () => clearInterval(timer)
  }, [inventory])
  const minutes = Math.floor(seconds / 60)
  return minutes < OLD_MINUTES ? null : <p className="inventory-age">{texts.itemAge(minutes)}</p>
}
