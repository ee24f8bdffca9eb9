/** Reads the asset properties of an inventory, which distinguish items of one class. Pure. */
import { z } from 'zod'

/** The id of the property with a weapon's paint ("Finish Catalog"). Only items of Counter-Strike have it. */
const PAINT_PROPERTY = 7
/** The rest of a longer list is not read. */
const MOST_PROPERTIES = 30

/** Steam's number of a paint, as text or as a number. */
const paintIndex = z.coerce.number().int().positive().max(65_535)

/** Returns the number of an item's paint; null if its properties have none, or an invalid one. */
export function paintIndexOf(properties: unknown): number | null {
  if (!Array.isArray(properties)) return null
  const rows: readonly unknown[] = properties.slice(0, MOST_PROPERTIES)
  for (const row of rows) {
    if (typeof row !== 'object' || row === null || !('propertyid' in row) || !('int_value' in row)) continue
    if (row.propertyid === PAINT_PROPERTY) return paintIndex.safeParse(row.int_value).data ?? null
  }
  return null
}

const listRow = z.object({ assetid: z.string(), asset_properties: z.unknown() })

/** Returns the properties by asset id. The public page lists them apart from the items. */
export function propertiesById(list: readonly unknown[]): ReadonlyMap<string, unknown> {
  return new Map(
    list.flatMap((row) => {
      const { data } = listRow.safeParse(row)
      return data === undefined ? [] : [[data.assetid, data.asset_properties] as const]
    }),
  )
}
