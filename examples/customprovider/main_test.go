package main

func Example() {
	main()
	// Output:
	// recall memscope1_ZJ91s3I7XiNAw-vzNQnk8Jt8ps2Ugp6blx6fuyZlspA
	// capture memscope1_ZJ91s3I7XiNAw-vzNQnk8Jt8ps2Ugp6blx6fuyZlspA
	// recall memscope1_NqYw5RJpdTiKNufxpg6891JfP4g__lPA5JIeDFN9Csk
	// capture memscope1_NqYw5RJpdTiKNufxpg6891JfP4g__lPA5JIeDFN9Csk
	// recall memscope1_ZJ91s3I7XiNAw-vzNQnk8Jt8ps2Ugp6blx6fuyZlspA
	// u_42 sees "Said earlier: Hello"
	// forget memscope1_ZJ91s3I7XiNAw-vzNQnk8Jt8ps2Ugp6blx6fuyZlspA
	// capture memscope1_ZJ91s3I7XiNAw-vzNQnk8Jt8ps2Ugp6blx6fuyZlspA
}
