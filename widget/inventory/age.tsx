import { useEffect, useState } from 'react'
import type { Inventory } from '../../contract/widget-api.ts'
import { useStand } from './texts.ts'

const TICK_MS = 5_000

/** How old an answer is that Steam gave earlier; it ages while it is looked at. */
export function Age({ inventory: { ageSeconds } }: { inventory: Inventory }) {
  const { texts } = useStand()
  const [seconds, setSeconds] = useState(ageSeconds)
  useEffect(() => {
    const begin = performance.now()
    const tell = () => setSeconds(ageSeconds + Math.floor((performance.now() - begin) / 1000))
    tell()
    const timer = setInterval(tell, TICK_MS)
    return () => clearInterval(timer)
  }, [ageSeconds])
  if (ageSeconds === 0) return null
  return <p className="inventory-age">{texts.itemAge(seconds)}</p>
}
