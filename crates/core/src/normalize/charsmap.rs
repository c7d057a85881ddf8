//! Whether the double array of a table is one that was made of rules.
//!
//! A search follows whatever the units say: junk finds nothing, or anything, and a table that changes no text hides that
//! its file is broken. So everything that a search can reach is looked at once: each way ends in a value, none leads
//! beyond the end or in a circle, and each value is where a replacement begins.
//!
//! Labels that no key has are passed over: units that are not in use have some label as well, often zero.

/// The bits of a unit that are its label if it is no value.
const LABEL: u32 = 1 << 31 | 0xFF;

/// Places that share all but their last byte.
const BLOCK: usize = 256;

/// How far the children of a unit are, as a mask.
pub(super) fn offset(unit: u32) -> usize {
    ((unit >> 10) << ((unit & 1 << 9) >> 6)) as usize
}

/// Whether a search for UTF-8 without zero bytes can ask for this label.
fn is_asked_for(label: u32) -> bool {
    matches!(label, 1..=0xBF | 0xC2..=0xF4)
}

/// A node on the way from the root.
struct Open {
    base: usize,
    /// How many of its children are done.
    done: usize,
}

/// Checks a double array and its replacements; else what is wrong with it.
///
/// Time: linear in the units and the replacements.
pub(super) fn check(units: &[u32], replacements: &str) -> Result<(), &'static str> {
    let children = Children::new(units);
    let root = units.first().map_or(0, |&unit| offset(unit));
    if root / BLOCK > units.len() / BLOCK || children.of(root).is_empty() {
        return Err("has no rules: its root leads nowhere");
    }
    // Each node is a base: of several ways to it one is followed.
    let (mut seen, mut is_open) = (vec![false; children.starts.len()], vec![false; children.starts.len()]);
    (seen[root], is_open[root]) = (true, true);
    let mut way = vec![Open { base: root, done: 0 }];
    while let Some(last) = way.last_mut() {
        let base = last.base;
        let Some(&place) = children.of(base).get(last.done) else {
            is_open[base] = false;
            way.pop();
            continue;
        };
        last.done += 1;
        let unit = units[place as usize];
        let next = place as usize ^ offset(unit);
        let ends = unit >> 8 & 1 == 1;
        if ends {
            let value = units.get(next).filter(|&unit| unit >> 31 == 1).ok_or("has a rule without a value")?;
            let start = (value & (u32::MAX >> 1)) as usize;
            if start >= replacements.len() || start > 0 && replacements.as_bytes()[start - 1] != 0 {
                return Err("has a rule whose value is where no replacement begins");
            }
        }
        if children.of(next).is_empty() {
            if !ends {
                return Err("has a unit that leads nowhere");
            }
        } else if is_open[next] {
            return Err("leads in a circle");
        } else if !seen[next] {
            (seen[next], is_open[next]) = (true, true);
            way.push(Open { base: next, done: 0 });
        }
    }
    Ok(())
}

/// The places of units by the node whose children they are.
struct Children {
    /// Those of node `i` are `places[starts[i]..starts[i + 1]]`.
    starts: Vec<u32>,
    places: Vec<u32>,
}

impl Children {
    fn new(units: &[u32]) -> Self {
        let of = |(place, &unit): (usize, &u32)| {
            let label = unit & LABEL;
            is_asked_for(label).then_some((place, place ^ label as usize))
        };
        let mut starts = vec![0; units.len().next_multiple_of(BLOCK) + 1];
        for (_, node) in units.iter().enumerate().filter_map(of) {
            starts[node + 1] += 1;
        }
        for node in 1..starts.len() {
            starts[node] += starts[node - 1];
        }
        let mut free = starts.clone();
        let mut places = vec![0; starts.last().map_or(0, |&end| end as usize)];
        for (place, node) in units.iter().enumerate().filter_map(of) {
            places[free[node] as usize] = place as u32;
            free[node] += 1;
        }
        Self { starts, places }
    }

    fn of(&self, node: usize) -> &[u32] {
        match self.starts.get(node..node.saturating_add(2)) {
            Some(&[start, end]) => &self.places[start as usize..end as usize],
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalize::tests::table;

    fn units(table: &[u8]) -> (Vec<u32>, String) {
        let length = u32::from_le_bytes([table[0], table[1], table[2], table[3]]) as usize;
        let units = table[4..4 + length].as_chunks().0.iter().map(|unit| u32::from_le_bytes(*unit)).collect();
        (units, String::from_utf8_lossy(&table[4 + length..]).into_owned())
    }

    /// The definition: every key, byte by byte.
    fn slow(units: &[u32], replacements: &str, node: usize, depth: usize) -> Option<usize> {
        let mut rules = 0;
        for byte in (1..=0xF4).filter(|&byte| is_asked_for(byte)) {
            let place = node ^ byte as usize;
            let Some(&unit) = units.get(place).filter(|&&unit| unit & LABEL == byte) else { continue };
            let next = place ^ offset(unit);
            let mut inside = 0;
            if unit >> 8 & 1 == 1 {
                let value = units.get(next).filter(|&&unit| unit >> 31 == 1)? & (u32::MAX >> 1);
                let begins = value == 0 || *replacements.as_bytes().get(value as usize - 1)? == 0;
                inside += usize::from(begins && (value as usize) < replacements.len());
                if inside == 0 {
                    return None;
                }
            }
            inside += slow(units, replacements, next, depth.checked_sub(1)?)?;
            if inside == 0 {
                return None;
            }
            rules += inside;
        }
        Some(rules)
    }

    #[test]
    fn a_changed_unit_is_refused_or_leaves_a_table() {
        let (whole, replacements) = units(&table(&[("a", "x"), ("ab", ""), ("é", "e"), ("日", "day")]));
        assert_eq!(check(&whole, &replacements), Ok(()));
        let mut refused = 0;
        for (place, bit) in (0..whole.len())
            .filter(|&place| whole[place] & 0xFF != 0xFE)
            .flat_map(|place| (0..32).map(move |bit| (place, bit)))
        {
            let mut changed = whole.clone();
            changed[place] ^= 1 << bit;
            let expected = slow(&changed, &replacements, offset(changed[0]), 16).is_some_and(|rules| rules > 0);
            assert_eq!(check(&changed, &replacements).is_ok(), expected, "{place} {bit}");
            refused += usize::from(!expected);
        }
        assert!(refused > 100, "{refused}");
    }

    #[test]
    fn junk_is_refused() {
        for (junk, what) in [
            (vec![0_u32; 2], "no rules"),
            (vec![u32::MAX >> 1; 300], "no rules"),
            // The children of "a" are its own.
            (vec![(0x61 ^ 1) << 10, 0x61 << 10 | 0x61], "circle"),
            (vec![(0x61 ^ 1) << 10, 3 << 10 | 0x61, 1 << 31], "nowhere"),
            (vec![(0x61 ^ 1) << 10, 3 << 10 | 1 << 8 | 0x61], "without a value"),
            (vec![(0x61 ^ 1) << 10, 3 << 10 | 1 << 8 | 0x61, 1 << 31 | 1], "where no replacement"),
        ] {
            assert!(check(&junk, "x\0").is_err_and(|found| found.contains(what)), "{what}");
        }
        let mut seed = 7_u32;
        for _ in 0..200 {
            let random: Vec<u32> = (0..512)
                .map(|_| {
                    seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    seed
                })
                .collect();
            assert!(check(&random, "x\0").is_err());
        }
    }
}
